deep=$(head -c 100000 /dev/zero | tr '\000' '[')
put_header "{\"lm_head.weight\": $deep"
