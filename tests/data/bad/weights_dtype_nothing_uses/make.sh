header 's/"lm_head.weight":{"dtype":"F32","shape":\[\([0-9]*\),/"lm_head.weight":{"dtype":"F8_E8M0","shape":[\1,4,/'
