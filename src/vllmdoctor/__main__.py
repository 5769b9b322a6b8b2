"""`python -m vllmdoctor`: the same as the command `vllmdoctor`."""

from vllmdoctor.cli import main

if __name__ == "__main__":
    main()
