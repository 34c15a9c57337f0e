"""What a judgement puts up with: waivers and the baseline."""
