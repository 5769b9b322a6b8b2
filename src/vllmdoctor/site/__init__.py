"""Rules, remedies, guides and the analyzer's own output in, the troubleshooting site out: /{en,vi,ja}/ and what they share."""
