"""Campaigns that try the program as an enemy would. See Documentation/Hostile.md."""
