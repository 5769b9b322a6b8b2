"""The catalogues of the program's own sentences (`LANGUAGE/LC_MESSAGES/vllmdoctor.po`), and what compiles them."""
