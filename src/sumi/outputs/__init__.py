"""What jobs leave behind for people and programs."""
