"""What runs when the browser's engine is built, inside the Python that the browser will run."""
