header 's/"model.norm.weight"/"lm_head.weight"/' 
