"""Rules, remedies, guides and the analyzer's own output in, the troubleshooting site in three languages out."""
