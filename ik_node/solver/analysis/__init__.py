"""What a mechanism can do: mobility, conditioning, closed configurations."""
