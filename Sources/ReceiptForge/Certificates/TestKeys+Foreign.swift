// TEST KEYS: see TestKey.swift. Public, of no value, trusted by nobody.

extension TestKey {
    static let foreignRootCAPEM = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEowIBAAKCAQEA8VVBxefxStP5bdb//5vYlZu0opdTzG5gm7BO+t1ifd3Lq5Z7
        nS89xCEUTZSYzzaQPTPwA8yrqh2cxV/fxf5jxS6Hs0GvLUi/kxXovJIFpT1XLljv
        dtp3DTi5lALOH2ue6apbYJdHnisgTtUNgftO0Zx5NiV63K9JwJk+HyJRlS6sHtzv
        DSf2j19OlKL6sZlR1p5bGd6wtRQuDHZdf0XX0lTGcfWXNk4u5f8moaWTukxW6iyC
        DE0v4/btzNcMZfZHH6nipW6JgnToTejGDwpr3jwOGQR4q7zkMSAy8jYqBhlAuEzF
        lQ11flpEA8WZCoI5vwM4xwBNfaTVp8BPtHQPYwIDAQABAoIBADpHDlUOR7R8L9WY
        f8VoCwtFyH8i7/eECAxQrSHjaC9g6hgLhNpWWCIOouqBIc2YLYi6DBG+0Q2JjRwU
        pOMZJVque9KL4BOdZ7XLKqKu2HIot+7XRyx6YRluQ1I8wy3PPVbL7rkKjx7g5zJi
        PJrQ5x2zHYo3zs2P/s1ltBysmurdHGCYSkATzwpx0PkctE6PsmpwVqpzoqUAtiYM
        zC6WsAxIb9SZRRHobmBCo380JfGTV3up4wEz25BAfY37OkleKsXyjftHP6Vywt3M
        iTsDXjK7KTr6B/72vMpNNWmjgEPP6nNkDy84RLEA5yN/sKYKFoDV47b4G8Sxyh3q
        uwZgY+ECgYEA/AO+wDfTS+o8VuySK53Hr7lh4DjplBKmkxZIHdA7KqgQv/Zmhr5z
        JzMxMtX3O0Zip0HcunAGnRneZENKEGv5ZboCNswAy2BtOwNljxyceeFP6UGNo/5R
        GvuKelVIUNJL6AWRFCefN8DcavQJgTB2wHfpBLuwriJFHER/LEIVPtsCgYEA9SZE
        u47Ng9GbQst2uf7zrxXIexeo10MIdHNd7n2YE3IkxYkpQiyEKSvhh3Owl3I9+ldx
        OIAuKvA0luQXQGxgZHPWABBXmV63JewFxRuzYpIbaRoOYiLIFvdfT1va0776DW07
        sy+lwiK6HfbgCJ5PujFjTzz5VAdlTtNW/jlohBkCgYA+W07fkPCfYB3+BBtG34uB
        V4V4TZy+Hr9ItcKyXcvGCj/av8UuogEsOeZ6habe69ONPya2mvGH/dahSGUTGyRi
        n1vc4y1vJTTh3T1L4/Bz1+RF+wppAYxf+M2S53c1SFOv3XDAY+1phjcD385aQPuh
        NApcOXTGIYSoMeqlsNRA8QKBgQDgX8FC5SYGwz7WuMCW5dmFY2uV9gar1weTBdBw
        KvWYvr0XKz3e+j2QLUCDKAj15DMDwSq4auFWnXmUrXj2lvr2lerFLi/vCPiaNdbm
        HD9oNY/u91E40trN4mWSjeDQMxhMV7DvhOmysPQl3sIYQUV5hiB98rHFDevUZKxX
        jJWzaQKBgGzQoyGV7ooYmsZwXdnCHvPjpvMOy0Da/YriMtkKxpu0nAbzGkkJS8GN
        s8sWf4bT4bp2he2ymduf3hNyHc9eJkFTycF3YPFfl7QqIgght42fBXMYfVu7XcEr
        HjM80nzht1I+Lv/s9AdxJ3OzPOhdmWFFRmXrrtumDZHW/gTfcuNY
        -----END RSA PRIVATE KEY-----
        """

    static let foreignIntermediatePEM = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEogIBAAKCAQEAiQcv9j6TF3trbs7g/RZgEmNPvVjWZRn6DCNdZuT73TG4nxiU
        +KplXEGxBNTV20d75VXUB9r6+8zTWTJkZ2yfzt7oysbv+gEI3Y9KIcTzb9S4anzs
        aeK6aMO9XeaJQ/CYT/6UnWma+39Arxs+8/16JCNna4H95qpcKUchMgenvcsoqkPx
        hVjtXkBVXfpQgPgnglQn4CG3Z/wUrL6m2cm12a1d9HYe8iJxkCLfI/LCs1cuMMke
        rrYJHcoraemlshc0gEwt6JItJll7plh232AiAnLY4JLvx3WxUI2KLEA6fn43mM1O
        NnPSG1IL/D1Qo0X/TDHYfVhydzDWf/Wjd9woowIDAQABAoIBAAqeTnaoAbD7pOcY
        y/GAxuAV5wt2s2JxQWGoaef7zZKl9DcL6htc5O7hvkxwC8RqxSyP2pbjPri9dhE+
        6O3kynt25ZY1FUqLwvqcTHPSdcTQOJwz4wQPiD9vD6ETqMZlggAM68pI8TQU99e5
        5kZ0+X6Macq4b4rs36hpNSbR1gtMcmncju+1jILN3Cj5xCFgydNQkPQxEhRk4MiZ
        lRDsEkwWNkLMOcdOEq+BowM7zhf0QH4wBY+No3HCCJ17cSZb4QbTo5CaCHzGwxdP
        fV0xO/dqz88yE7FHRRI86ofh7hfxESavouf2Ljurfzf0mq8VFbCf7smu35ODwz/1
        Z62++AkCgYEAviYolxffMBWbGALsWBct1WpJZRD0Z7cfGkrVgeaeWU5Ei9A8NJ6f
        F3JAHFPu7aW1zpWeTHHYjvZnQJCEAGw9iF3z1vp88EQjZhT9RXSvI8JFSFuKRwAA
        H+7rlyq1T/vA/1TOEr4OCH0QZsJ35Bf7BJJTJ/6Fg78AiRs91CUklksCgYEAuHuJ
        70VM9ykFRROUM/0p9fEbW2iEyB5nNvMRqhqbbxZCas2s5Lq0+tC4HUb9CSmj3xE5
        M0uzT3z7NUbUyjUJneIkMoXbt5Z1tOFmpvXdUcuYF3aMDg6pzHwsYgQQpre14XMD
        gyvsZNVxNicajpxkn6cCyVDX3AYHFHiSOSxsoAkCgYAkCc1lnZOiZGXprhwnMfVw
        3l0ct5Lq2U0eyZIftZrLaEcbjJLskieq5O97rvi4t9B2X+sJqAYYSmEVXo52Gg2r
        e8sMMptdWjyvS0kZUd0j1N0WsqrJfBmJ89lY5DJK/3b7rZIFAVpdh36FS1Q3ucfM
        fQMfsGCTsK6kTbJxM7z0cwKBgB08ZsWmg+X/eDhUO/5pNoclaKJ50+ErAExzBO+i
        O9PFAU2PvsCY3imJfkQVhfA3yyKExj3c11PXiLAOw5YwBZAh0H65O/LCQ3Eg73Wy
        LRrTWw0M2nE33azsWNRHtKPXJVnPMlVNVq88LC7az5ieLEwo2YYx66OQyPpziSjK
        Y4SRAoGATItsMYuH6i75FljuF99ah57g6evW/Ce5c5mM3YQUW/i9sLtLhsTTNLAh
        I2bSRZVy5Sl3HxtpnCkGeSfInvA9iK5VzE+SGZ7AAA33L8wO3m//9Pato68V/uVd
        +unlD4wtLoPKwQCgrzckUyHAVEDz+xfKT+zB5dHMmBRHeNkKi3U=
        -----END RSA PRIVATE KEY-----
        """

    static let foreignLeafPEM = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEpAIBAAKCAQEAvVVjQHYOASQsP9X/1m/5KcQJrTtBuD0j+dNpw3+M3ar/GNFm
        VcI0EETDCvKAQYfirzquRVEpMu5emzxMQggYn6KQBAclafGfaMEFZp7tfP1PJkD8
        MpGPZHqKvjVLNv14WFug5Tio13lRStvLq33rQF0ZaNj25xNdE6wuNhuYUH6DL//s
        eyGAKIInUY7jX6hrY8Re+ER2b4soXq5UpVr9QCUmyif560MtGCIefHlcBiI0bbvq
        mCjxX0l/z9n+YhCGJV049z59cC8BiEUhdoiqc+d45psLKdaq+S/FRLgyii4t9mBJ
        fMUKaC93P4vAj28vMNB1mPnTVxeb6o7swu6F9wIDAQABAoIBAC+kS9xNmIqK+qN5
        iu3/sRfkX3b6wTfGEsZrf2KVNvIUdCpfjrunqYgqdVXM3Z8fvVfQkUeZ+574QlAX
        pSy8cs3AjzKkRbLZ/P3UDDLdbO8VopQCqDNlU0q6Vy0zpeCJeX3qWJs1Xa8StPT8
        R8y4W7kPdDRg3AgbZEFuAxbUbMhcDdJXD7YUPporO9ka7F+uT9qZ4TN/VrBDQ6hT
        nsvH4mHZVW96xGdm8SLfM9EWG4FMelkG0bnOdbkk+cmxoXPvlTAW27dhkbkLI/g+
        1Ox/aG02wH3dwUsBQ3OHjXA0Iwt53yo1Wud6tbYlIoP3hzK/WkUpeT4R5W/gzCRQ
        ygnY9rECgYEA9kJ27GDHbeAPYyvhz3cfe/d3hFyarw4uKR5Pn6Uf23k3QfHPR3FT
        pVs9MbXukORX6mCnCxtNZewa+mzfD/mjcUP1o5YdUuQlubAD2FfPuRjkSLyrsBc/
        0BHBqSlxij+ZD/NIIcMNbf26naP+wJaxKseJttmT5ceKIkC5WoY8Kq8CgYEAxNKC
        poOSVX5tLWxP5cc92s8ct+A4/zGk9z9jPO9cnSW8hj8/2H2z2V0rm9iwwUyaxuZU
        /UiKRTYxsFx0KyCk8vtj9DmaG+4GAUS0w2EAzYRxNWa0xGN5ZlMp+iUIC/l5Dlzv
        3qCXKeZ+F4Oky4dRcdw7k80Glu1Lz14YePhkizkCgYEAyJUokq7dogR/5BJJMphf
        37SY+AoJwI63UKysxGdWRIk+Vgtk/1cyf5yKgqQitogXiAPD7AsIBv3Cl7n4EuYO
        l+J4AQ/zwKGujMnux9f2jVjWEN0Ep0C4rHzaFjR4k9frj49kcIOUu8OQrnh2t13G
        3wZ6iKI+kknunKnFkBOIjGcCgYEAvySpWUjhrkGPidNsbHxoZ71H6JLLB5qQ2MUo
        fR8AVGU3hzCZsoexR+Eh3sI8Nh1NGujJlQkDr1+INfwznUagqpDVa3MdZQ5tqoGt
        AymLfAupXfEWkLsCRQty8slP3UEz/WzoTs6qvzhnMDLasgYCZI87FLjCM4TUYNjC
        74hbLJECgYADBtnCIuXzB6/9Hst8RxJ0gz1HcElqGJvg/bXof9+zmi9FEgUNSWZZ
        afGd0HHy4ZsuS9El5aL2vr8Ue40MdBHXGRA4eak80akrU7W6iTpQLEhk8GkjFsiQ
        gOlJ6gxqThk729dRIMTMdMgq5sqOZe7na/NqFe0/DFhQBCE7OE4tJA==
        -----END RSA PRIVATE KEY-----
        """

    static let purchaseReceiptPEM = """
        -----BEGIN RSA PRIVATE KEY-----
        MIICXQIBAAKBgQC603wRxGizrZ+xWHh26U2LTHa37CiaqmSdUvGTT+T53ZC83qxq
        Ds1PQQhG2b9XwI9Xyq71Eb9fty2jMmneGGIHJTLkK6KH4d7wpmStA9uMmKyB2fQt
        1/AR/wxqvlhNPhJo+teuY/BCt0IkZGSiVC074Xp6t4Gs9V68Bjr1w3cqWQIDAQAB
        AoGBALan0aNlTaBt3bV787r+eiv4xBEpuMEOWnReBYWrFQkdkEa3xgWjFyOnRzpN
        5X8b6olAxjEf+uTPqLTnsw3K9PqtdetMp6ADeIw9tm24d1q+eOVLcxlxz73C7eNz
        kOGWS4NnPcJ0o5xLDdFs1bvKm0GCUiNeUjxXuIadzYIryQkBAkEA8rF4GEbM6R8E
        OtK2vfulx5PUeE7/xNIsxSfszxhCQRa+4cOokLF7kpG/jJ49H2maFoWcpj4GfuHA
        sgJzozXqUQJBAMUR2Bm1EHwC/bomDI48Efm/MI5ujz8mLPDHSsu+8pRpXOFWh/P/
        xFwg5NghQ4YQ5Oq4oFhPyyYKsEU80L/6NYkCQBV3lzzmfleck740R0/Uw5w8uk2O
        B1e8k5M47dx/s9SYE3ha2z05Rcn4NG5WzOdLawLU/L9Du0Vb6LSWPO5R5ZECQFAG
        d/+wdDo3qLsPumeD4zTMu7YLFWZqZTN9alUkfDNiOdJTpi+iPCXBQcy2bUoi0CK0
        yIA0HuWaz4u+L3LV8ykCQQCkMKN1JAnfRgItqEd5ZXTI2h0eomvq+CBWS2zUVHWW
        ctqDiEpMGYbhIaQd9XL2WbS6x/FFBd5irNCpf6+YpGX3
        -----END RSA PRIVATE KEY-----
        """

    static let foreignPurchaseReceiptPEM = """
        -----BEGIN RSA PRIVATE KEY-----
        MIICXQIBAAKBgQDTECb0lzgz3CfRc/8VDjPwJh2ygbEkF0B3sNurF5wYrzUqrKJa
        3NwOFDCEX4pdLiWpQ4+H5xVHazAFR8jcn+pE2Yq+aFpGpyhWJNIbrXOoQGCIZF0+
        KqUICZrBZ0zryaSVyk9037xYzWpLnIcYniQNLTmsdCo86iyk66iUOl19qwIDAQAB
        AoGBAMKaX/ChBRb75FLAyu6U+9puqm8OGVAXiD9TeBbWW/x+f1zrc36nqNXqU5mZ
        pa+oft0EB/DcZchF0i7sMw0I/SvzxcRHAMM5xAcVOYBlb7fmknzwM6G1zxEvPgzw
        1UcVyNp5+UxQYO0/WMIBKQIpPUkdNJS0rKN6RymVCLp4rKiBAkEA/biDEhPlpXiU
        o8IlzjNuUnTGtYniTC/FpuqJkHzEYhRGdyD9fkdLB7BxEudI77o84e6C9gBVzKk3
        64xsAnzLSwJBANT1ig7Zohy6RHone8uKsydiZDziaoNTZXRkXZEAbzXPOwUK+JKS
        K1ExxM3jacGmWDF6JW3Jrkglzmg+dWcnOyECQQC/zCmZEt15FwwWNv/pPsvZHVnR
        hihBu6NIqOfRB+BU3ErgZ1n5id9YMrNnvNtQDZNUn770RBCYJBuXvpEv2DK9AkAv
        gPIh6+QgmmBKC2Ku/aqG/4iymCMAVmsMMpM4lCs6ipZ0woS+VUK6YuqurqrZmpyT
        tNaCjfmFeIF5eW1A7FxhAkBNPU6eFcdaXaYQBY3YMjLXEHTqHjGiQFs69TsCzwER
        S7l6CDI3grDECywAcbtZX3eFJQRcs71D6hXMC1C88jIG
        -----END RSA PRIVATE KEY-----
        """
}
