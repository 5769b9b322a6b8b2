"""Short samples in the exact format of each tool; addresses, UUIDs and paths are made up."""

TABLE = """\
Wed Jan 22 04:28:25 2025
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.127.05             Driver Version: 550.127.05     CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:18:00.0 Off |                    0 |
| N/A   30C    P0            100W /  700W |   71234MiB /  81559MiB |     97%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
|   3  NVIDIA H100 80GB HBM3          On  |   00000000:2A:00.0 Off |                    0 |
| N/A   31C    P0             82W /  700W |     563MiB /  81559MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    0   N/A  N/A     51876      C   VLLM::Worker_TP0                            71220MiB |
|    3   N/A  N/A      2217    C+G   .../share/app/app --type=gpu                  552MiB |
+-----------------------------------------------------------------------------------------+
"""

OLD_TABLE = """\
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 418.67       Driver Version: 410.79       CUDA Version: 10.0     |
|-------------------------------+----------------------+----------------------+
|   0  GeForce GTX 108...  Off  | 00000000:03:00.0 Off |                  N/A |
|  0%   29C    P8     8W / 250W |     12MiB / 11172MiB |      3%   E. Process |
+-------------------------------+----------------------+----------------------+
| Processes:                                                       GPU Memory |
|  GPU       PID   Type   Process name                             Usage      |
|=============================================================================|
|    0      1234      C   python                                       10MiB |
+-----------------------------------------------------------------------------+
"""

MIG_TABLE = """\
+---------------------------------------------------------------------------------------+
| NVIDIA-SMI 535.161.08             Driver Version: 535.161.08   CUDA Version: 12.2     |
|   1  NVIDIA A100-SXM4-40GB          On  | 00000000:07:00.0 Off |                   On |
| N/A   24C    P0              42W / 400W |     75MiB / 40960MiB |     N/A      Default |
|                                         |                      |             Enabled* |
+-----------------------------------------+----------------------+----------------------+
| MIG devices:                                                                          |
+------------------+--------------------------------+-----------+-----------------------+
| GPU  GI  CI  MIG |                   Memory-Usage |        Vol|      Shared           |
|==================+================================+===========+=======================|
|  1    5   0   0  |              25MiB /  9856MiB  | 28      0 |  2   0    1    0    0 |
|                  |               0MiB / 16383MiB  |           |                       |
+------------------+                                +-----------+-----------------------+
|  1    5   1   1  |                                | 14      0 |  2   0    1    0    0 |
|                  |                                |           |                       |
+------------------+--------------------------------+-----------+-----------------------+
"""

NEW_HEADER_UNIFIED = """\
| NVIDIA-SMI 610.57.04              KMD Version: 610.57.04     CUDA UMD Version: 13.3     |
|   0  NVIDIA GB10                    On  |   0000000F:01:00.0 Off |                  N/A |
| N/A   54C    P0             12W /  N/A  | Not Supported          |      4%      Default |
|                                         |                        |                  N/A |
"""

FAULTY_ROWS = """\
|   6  NVIDIA A100-SXM4-80GB          Off |   00000000:B3:00.0 Off |                 ERR! |
| ERR!  ERR! ERR!            ERR! / ERR! |   ERR!               |    ERR!      Default |
"""

PROCESS_FRAME = """\
| Processes:                                                                  |
|  GPU   GI   CI        PID   Type   Process name                  GPU Memory |
|        ID   ID                                                   Usage      |
|=============================================================================|
{body}+-----------------------------------------------------------------------------+
"""

QUERY = """\
==============NVSMI LOG==============

Timestamp                                 : Thu Nov 14 14:58:00 2024
Driver Version                            : 560.35.03
CUDA Version                              : 12.6

Attached GPUs                             : 2
GPU 00000000:41:00.0
    Product Name                          : NVIDIA A100-SXM4-40GB
    MIG Mode
        Current                           : Enabled
        Pending                           : Enabled
    MIG Device
        Index                             : 2
        GPU Instance ID                   : 3
        Compute Instance ID               : 0
        Device Attributes
            Shared
                Multiprocessor count      : 14
        FB Memory Usage
            Total                         : 4864 MiB
            Reserved                      : 0 MiB
            Used                          : 13 MiB
            Free                          : 4851 MiB
        BAR1 Memory Usage
            Total                         : 8191 MiB
            Used                          : 0 MiB
            Free                          : 8191 MiB
    Accounting Mode                       : Disabled
    GPU UUID                              : GPU-00000000-0000-4000-8000-000000000001
    FB Memory Usage
        Total                             : 40960 MiB
        Reserved                          : 571 MiB
        Used                              : 2 MiB
        Free                              : 40386 MiB
    BAR1 Memory Usage
        Total                             : 65536 MiB
        Used                              : 1 MiB
        Free                              : 65535 MiB
    Compute Mode                          : Default
    Utilization
        Gpu                               : N/A
        Memory                            : N/A
    ECC Errors
        Volatile
            SRAM Correctable              : 7
            SRAM Uncorrectable            : 0
            DRAM Uncorrectable            : 4
        Aggregate
            DRAM Uncorrectable            : 90
    Temperature
        GPU Current Temp                  : 33 C
    GPU Power Readings
        Average Power Draw                : 51.20 W
        Current Power Limit               : 400.00 W
    Module Power Readings
        Power Draw                        : N/A
    Processes
        GPU instance ID                   : 3
        Compute instance ID               : 0
        Process ID                        : 5304
            Type                          : C
            Name                          : VLLM::EngineCore
            Used GPU Memory               : 11 MiB

GPU 00000000:81:00.0
    Product Name                          : NVIDIA RTX A2000 12GB
    FB Memory Usage
        Total                             : 12282 MiB
        Used                              : 3 MiB
        Free                              : 11890 MiB
    Processes                             : None
"""

XML = """\
<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
    <driver_version>535.54.03</driver_version>
    <cuda_version>12.2</cuda_version>
    <gpu id="00000000:01:00.0">
        <product_name>NVIDIA A100-SXM4-80GB</product_name>
        <mig_mode><current_mig>Enabled</current_mig><pending_mig>Disabled</pending_mig></mig_mode>
        <mig_devices>
            <mig_device>
                <index>0</index>
                <gpu_instance_id>3</gpu_instance_id>
                <compute_instance_id>0</compute_instance_id>
                <fb_memory_usage><total>19968 MiB</total><used>12 MiB</used><free>19955 MiB</free></fb_memory_usage>
            </mig_device>
        </mig_devices>
        <fb_memory_usage>
            <total>81920 MiB</total>
            <reserved>869 MiB</reserved>
            <used>50 MiB</used>
            <free>80999 MiB</free>
        </fb_memory_usage>
        <utilization><gpu_util>N/A</gpu_util></utilization>
        <compute_mode>Default</compute_mode>
        <ecc_errors><volatile><sram_uncorrectable>1</sram_uncorrectable><dram_uncorrectable>2</dram_uncorrectable></volatile></ecc_errors>
        <temperature><gpu_temp>42 C</gpu_temp></temperature>
        <gpu_power_readings><power_draw>61.30 W</power_draw></gpu_power_readings>
        <processes>
            <process_info>
                <gpu_instance_id>3</gpu_instance_id>
                <compute_instance_id>0</compute_instance_id>
                <pid>4937</pid>
                <type>C</type>
                <process_name>python &amp; co</process_name>
                <used_memory>160 MiB</used_memory>
            </process_info>
        </processes>
    </gpu>
</nvidia_smi_log>
"""

CSV = """\
index, name, memory.total [MiB], memory.used [MiB], memory.free [MiB], utilization.gpu [%], power.draw [W]
0, NVIDIA A100-SXM4-80GB, 81920 MiB, 61234 MiB, 20450 MiB, 7 %, 68.12 W
1, NVIDIA A100-SXM4-80GB, 81920 MiB, [Unknown Error], [N/A], [Not Supported], [N/A]
"""

LISTING = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-00000000-0000-4000-8000-000000000001)
  MIG 1c.2g.10gb  Device  1: (UUID: MIG-00000000-0000-4000-8000-000000000003)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-00000000-0000-4000-8000-000000000006)
"""

DMON = """\
# gpu    pwr  gtemp  mtemp     sm    mem     fb   bar1
# Idx      W      C      C      %      %     MB     MB
    0    294     81      -     98     57  90538      4
    1      -     68      -      -     55      -      4
"""

PMON = """\
# gpu         pid   type     sm    mem     fb    command
# Idx           #    C/G      %      %     MB    name
    2     377813     C     99     60  47594    VLLM::Worker TP0
    4          -     -      -      -      -    -
"""

ROCM_CONCISE = """\
========================================= ROCm System Management Interface =========================================
=================================================== Concise Info ===================================================
Device  [Model : Revision]    Temp        Power     Partitions      SCLK    MCLK    Fan  Perf  PwrCap  VRAM%  GPU%
        Name (20 chars)       (Junction)  (Socket)  (Mem, Compute)
====================================================================================================================
0       [0x74a1 : 0x00]       41.0°C      121.0W    NPS1, SPX       131Mhz  900Mhz  0%   auto  750.0W   83%   12%
        AMD Instinct MI300X
====================================================================================================================
=============================================== End of ROCm SMI Log ================================================
"""

ROCM_LINES = """\
GPU[0]\t\t: VRAM Total Memory (B): 68702699520
GPU[0]\t\t: VRAM Total Used Memory (B): 10985472
GPU[0]\t\t: GPU use (%): 73
GPU[0]\t\t: Card Series: \t\tAMD Instinct MI210
GPU[0]\t\t: Card Model: \t\t0x740f
"""

ROCM_JSON = """{"card1": {"GPU use (%)": "5", "VRAM Total Memory (B)": "34342961152",
 "VRAM Total Used Memory (B)": "6750208", "Card series": "Arcturus GL-XL [Instinct MI100]", "Card model": "0x0c34"},
 "system": {"Driver version": "6.3.6"}}"""

ROCM_CSV = """\
device,GPU use (%),VRAM Total Memory (B),VRAM Total Used Memory (B),Card Series,Card Model,Card Vendor
card0,0,21458059264,27856896,Radeon RX 7900 XT,0x744c,Advanced Micro Devices Inc. [AMD/ATI]
"""

AMD_TABLE = """\
+------------------------------------------------------------------------------+
| AMD-SMI 26.2.0+021c61fc      amdgpu version: 6.16.6   ROCm version: 7.1.1    |
|-------------------------------------+----------------------------------------|
| BDF                        GPU-Name | Mem-Uti   Temp   UEC       Power-Usage |
| GPU  HIP-ID  OAM-ID  Partition-Mode | GFX-Uti    Fan               Mem-Usage |
|=====================================+========================================|
| 0000:ff:00.0 AMD Instinct MI300X VF | 0 %      37 °C   2           141/750 W |
|   0       0       2        SPX/NPS1 | 9 %        N/A        62285/196288 MB |
+-------------------------------------+----------------------------------------+
| Processes:                                                                   |
|  GPU        PID  Process Name          GTT_MEM  VRAM_MEM  MEM_USAGE     CU % |
|==============================================================================|
|    0       1402  VLLM::EngineCor        4.0 MB   60.5 GB    60.8 GB  N/A     |
+------------------------------------------------------------------------------+
"""

AMD_BLOCKS = """\
GPU: 0
    ASIC:
        MARKET_NAME: AMD Instinct MI300X
    USAGE:
        GFX_ACTIVITY: 12 %
    MEM_USAGE:
        TOTAL_VRAM: 196288 MB
        USED_VRAM: 285 MB
        FREE_VRAM: 196003 MB
"""

AMD_JSON = """[{"gpu": 1, "mem_usage": {"total_vram": {"value": 196288, "unit": "MB"},
 "used_vram": {"value": 285, "unit": "MB"}}, "usage": {"gfx_activity": {"value": 3, "unit": "%"}}}]"""

COLLECT_ENV = """\
Is CUDA available            : True
CUDA runtime version         : 12.9.86
GPU models and configuration :
GPU 0: NVIDIA GeForce RTX 3090
GPU 1: NVIDIA GeForce RTX 4090

Nvidia driver version        : 595.58.03
cuDNN version                : Could not collect
"""

TEGRASTATS = "RAM 2448/7772MB (lfb 3x4MB) SWAP 0/3886MB CPU [2%@729] EMC_FREQ 0% GR3D_FREQ 17% CPU@43.5C\n"

DMESG = """\
[Sun Feb 23 16:24:18 2025] NVRM: Xid (PCI:0000:9b:00): 119, pid=2024380, name=python3, Timeout after 6s of waiting for RPC response
[111111111.111] NVRM: Xid (PCI:0000:05:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
NVRM: Xid (0000:03:00): 14, Channel 00000001
"""

ALL = (
    TABLE, OLD_TABLE, MIG_TABLE, NEW_HEADER_UNIFIED, QUERY, XML, CSV, LISTING, DMON, PMON, ROCM_CONCISE,
    AMD_TABLE, AMD_BLOCKS, COLLECT_ENV, TEGRASTATS, DMESG,
)  # fmt: skip
