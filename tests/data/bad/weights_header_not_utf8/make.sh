header 's/lm_head/lm\xffhead/' 
