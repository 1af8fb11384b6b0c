config rope_theta 0
