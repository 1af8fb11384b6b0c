config hidden_act 3
