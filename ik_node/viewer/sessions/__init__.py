"""What the page shows and asks: a robot solved by the library, or one of the gallery."""
