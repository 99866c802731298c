"""What `reach` finds: a map of where a link can be brought to, its outline, picture and table."""
