"""What every view reads: result sets, what a campaign expects, progress, and its history."""
