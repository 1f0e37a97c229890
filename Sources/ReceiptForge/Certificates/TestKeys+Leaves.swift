// TEST KEYS: see TestKey.swift. Public, of no value, trusted by nobody.

extension TestKey {
    static let receiptSigningPEM = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEpAIBAAKCAQEAnWjdENfTzxWG7jXBLxsSYvdTxspr6LaYOz+9E54E0+bo6LVc
        Cdis4pMrOmHxL4VaPZk9KuC6T41OY2p2atLxn7jdN8Equ7jk47Cp9OquHqM9iY5n
        feDL1TElU/e9J4CMAk3HygMbF/7EiJsaDUl8u8ivFdTB+2gyr/L4z4qiLgGZSWRq
        UoJCHNOAiSFy5CKjWIWTQiV0jk0AUpov+OHok/cHZpWVHuHNH+IqMrdWhmMSgc6B
        Qg6QUIQWaQal5FPmJZ9B4qEt/4ShlPH4C6JRO1yPtnwApBDHzgD4tPhJrvZ9u+Ti
        UJItzdJfld6fPq8DojeSt4QD0La/k9cIF5lTqQIDAQABAoIBAAPMslqT4LnX/6H0
        FYXYURhaXYD7K/smt/2xvNPo8mqWB8Tt2cfZqj5G39oaX237YB5qbd+BPX+qZGKO
        2sbN12v4uthIo9b642vulmlCMyVFesVwm0vR0Q6RAuE08r5hHAZ5nHfvHSiPxQYC
        IaROXY7GQGZ8jf+OUcjm/cputeb6QU9quuI4FzLrvZkNdA49LZaA1Bjl0Dk8MgOE
        ycCRuzUvHK09rdBe0NG8/Ipor35jTXjrZKGKYQSsA6b+rRqOZCVpVf32MfUHqUPn
        0isgQcdf48lLwanCHAUIdcoqCKfHXfTyr7tJ0KXANxLLO3Jouq2+7CYywd6emuaO
        dT40IJ0CgYEAywfiir1plcEx/ZLcqQPBwVvX3lVALAhmMXJepiOeMI2bxckEyncm
        XvurXfco1cb4ki4OD2YIAMCsDOc+BnbjNzMWCnSOwt1BxzPjY1NBwnScYoLEDAVU
        WPcu89nyauLXaodnDgwVoloa0HYgKGVaJH/+y41JGU22HAr1IQPxVGUCgYEAxnoC
        o01xtPDgUjaP02ayQrBd9YF3S4qVWGSdG5aTcimIvmYTHfihzoxlfOX8tKppYg3Z
        Qrjqe41QbGGE5iPZzg7ViGyPmo2CEiyDsLNKr6ugLpBM13shev5TRgK9PWP1bnjl
        cwv6QM6xfqo1i4w/8QLoiZ6MoIM7r4pQLcS24/UCgYEApcpOh5Scf5k/RR2D6tAS
        i95/rCJZQJurN315JJm5N1SrexrnOp2JS86e5SBKzCaqHFRXTuO2bUboN7EsyQKU
        ECM7QFZlrWIXsJ8Cc70s2al3eknl5RsFAZD3WlECz51k4qymzqW3lNeXRdrv74yz
        y1JpsbYxluQKbWPVP5yEmLECgYEAwIs45+eHebt8QwV/fdxQ7vVeEX+plXU58Oia
        qVroa4XzjJJF1XuQrWnyQrpy72mqll9M97egcn/jF2F7pi/9ajNl39VBcvP4zVy1
        3MPynn1nBgUjJp/jGQiFDJQ3tci1HpjWL0fdXOWnt3O0Qk6q8UqbAHb5gfYN/vu1
        UNFXg8kCgYBUp7KF3Wu2S1cbqpj9KaIzdYMXgF9ljVBRJ4Tp/MNdIOFInmrEwXyj
        ukeqto8YLi+nhnapMGe1bLdDlKJEVQNptJNFPKhefBcD0kHWGSry1xYppxOC/fgK
        PM5wAywXasygbNBlGyJtLVP2fZV0fpsBgr2yS/Ih5c2MzkgTsSFoLQ==
        -----END RSA PRIVATE KEY-----
        """

    static let receiptSigningG5PEM = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEowIBAAKCAQEAuCxN1g1KPTCXqywcmY1vaeYaqSNT2qTKyFI9KxtacEvgiY1j
        ShJCIvgk6Lya8HXMucOtZYQMHGFJ1/QQqbViOBL1OdrtJVoykmNg2uePAOIlE/mX
        yvIUv4AbwbzNjlM6BLRWH52zxHZx6B949Gl5kzlT4OHhpBVp6L3C3qRDDPe0bZs0
        7ktWjnPGVMQO5L2R54WCkW1dyNYEsY4AGc4x8B9puOpk73H1UxsmrCyhzOznYFiL
        DogiiPD22hPnP2PGxXwOy3MXx/sklLSTxeUxK3k72lU55F+VeRgmt0PkoRzgvzo8
        8xaxMz5EK9x+634mwRPsxxUZNlqJ3T6fGIphjwIDAQABAoIBABpAiRvGKzCLrk2C
        QoAKGWPRSThAxowiSfFsn4whywNkyBhzT0AuAsAJ+kuJJCtlxI0vfOuSe0jJqVqf
        TzIRnnLQaPoaiwvJo+8akUzCuFnvjPTK8r3FQfswtJl/YxbdetCphU6JDn3Q8FhJ
        BtcNTdIULYZJoaiKO4gnEbw7Un9qIAIM82b77cpMtnylMFDQqpNDs9okVgbZMgRO
        c0MB8LsFlF0zN8Sp1ipe5ZSnLe4Htj0pIiNTKC7aBX+/irpJJA+DWGwamvUeJWd3
        26UnyP7A73wdjNU2QEYHMrSnJ1Nt1tkmjsm/fvCb0jJPYNXNicH4CYuE8D+nnift
        le1bAIECgYEA7/JbU8qB2pT4oSvawd/HKSiB3E8JEMgQLjbhA1prNlMCcfjJI1YW
        MT6W9TnSVptIjxiIHDZZO3sQxp/Nt9D+RG4k8+mEnq4UflWAy/AQZ/YNdFtfeN/k
        8P7PDK+aNyaXjAI8JlpFqsIAC1mhALw770Bo5xuqS+suVizc5V4Ze0ECgYEAxH6x
        xtoWnV+2Qvvi2lLv1KNUGHc0F6RliMsHsD22yrLMsMn/ab185vW7EQ7o6C+wFa7T
        PQCKl4b6XjMjiubXVhfQx++wCSK2jyWLetH7mrUZP/aF61OqXfyWmUDEhm4X1brK
        AP5/CBDCf23KLEclEiVj/rGWkEHw7pjwpqgZuM8CgYBXiz4k8SK1hFq+OwjiaWn5
        q0zN+4wcMlIs+lrYZVnuhRTETnfcS6FnMCXVrNYAQUGU6+dlG7Msz3bMcSuWYEsU
        3nbfAxke5/aULVADmD/0HkLEbD4GFPIrt1wFjeAfNRZfv8UAXTlD1uo7OeVTJlpb
        rU1Y3LAiaNkMGewyR0XWwQKBgQCTrLwjPKieYd5y/SeC+a3xW0bKlFv8ILuGUUBX
        /imwsSwQ+d8RMy35zlhm+5OjXKOzyA5N3GhMdU8ZGMnvjInt1Dw+5y6fzwzxDECF
        b+buYIi3f6kqMVjrBfiQ+RI6Deev45AJqzsBbsceSf8Vw+piduNt+T208ToHt721
        IsUiFQKBgHOYSMeV7kZ3zsFGUMDRRxvbbNIrZLAUNK2EsCRpqE0RwjeUiRUbs3B7
        vHE2XAi/7oOnVEnzi5Fj5swbSlF7I4am0rKSi+LxhXjoNohRpp3Ju45NWgL7G+lM
        18RzJuXxju+3y/e1w1GvafLdxQrAGPS4ucdjyN1Ow+DhA4VGmaM5
        -----END RSA PRIVATE KEY-----
        """

    static let developerPEM = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEpQIBAAKCAQEA0cZBBuMAQIe29p0Uc1RzWXVQFGJFpw/1S1qlVBDp3gC+1ERM
        zAfeP9J6Z5SHc4lpOYVou0nTDFZq5N9FGjOSBMItPdXwmmm5TGl8jdBh/03396Zt
        bfYZW9CJoa4SD2lLeePnGM5HVHW2EjPC0cw2mz8UefVhUraWFZfmNayU2cPjajFe
        1LS/rxMLQzMSn6T2R9ghek2mzUn7nijnHdaj4s0/8PxRQexs7qdSVZmLyzrFw7Oc
        TSDOjKueOvDww9rNRzjF+ePJT2zs0Exj/peOCKhxlAKef9PL96Ihjw6jbwZy8Rqf
        5vvliHVjIU5dYq2WsjKYVxNKQD4zooBKVz8AwwIDAQABAoIBACYedZCPzWrsfnXf
        42h1ryRRagTaOrf58WQJC8Pz8ttxnTurUZ09zMgiMjYCSn7XOHTIZliqOJykU3ZV
        kBQLzPvqYRg8eSVGEvLstEJ83GHtRCMPbhEuSDtj8K6dmBCO3LVAkazzRwj0/und
        2AgRqNabJthmm5HRNgKkgKO+Qao0VvrvIScBPXsOPLXL2xtO5Y1qxXOUo8+zD0Mw
        i2y9Suvc8+d3jYpHt9ZPN4o7qvoj9LspDTRycr/pSahyGMiiRleA60D5APJiJloN
        /sj0SBHF9oE0kXmWF1bWll18U9kUX0wbDWP6QjtKykP+aH9aBIDiS0n1yPkteTT9
        CAyH1LECgYEA+WunLPsu8ppd6d6OL1yukPMs66C1t5PPE2cx9g0hmeggbEPNfWMG
        nf4txQoVgtkNHJbPK4fbTlGBI4zGfVLCihpw9Xfoc39++6O3h/akj/dgkpW/cYmF
        CABwIqLs9l/lrrgkrJl4Ud9Vzlb4Gn+xQcovcwg3+KVy8kfHGRs12/sCgYEA107e
        i2aNP/j2OfZ2kLDJiTOOtYJb/oXLf2omzQKBEW9hqL1Amt2wNycuje4hk8CF8vhG
        IjDTPlvL7RFw9DtwSlwGHbmWWNs8BcNkdALlaAAVPb7Yu4tJZJv85TuRMR+367N1
        /lRr/aW0eXOgsUwMeoFqIYpr55XiGP7tywdfS9kCgYEA3TRPqMIAqiKjxcWe3nxZ
        Sa6RmUwHvY82aOPt2GVe9ot7LemYNmr7tGV4HDdMSqbLTR6nD9lGc5gvauLwKrea
        VzcKFXnJy504dl6FZ+0jl5byrC5pAn3PYQBacy2B8SOtpR4lUHovzpS/Gefh1EaJ
        Y2q4WFHiqf+6CQwFlMugIb8CgYEAkyecgro8oBSQdV01+/5YQCW0y+mk5nibdSIg
        Es47WKc/oAx5M1+BKLDm6Kpw2IMlCcMWbBfiySQEZKsfAE3/mVL7+yT01RZCF85L
        wd6Y3FPyMJlXmBbCurjCSApGWcTL95RYeNNKW7n9d2TH12Wawb/hwbrRtR6DwYG7
        FKCdSUECgYEAtiEL1yD0MIfZ5TSKLXnUoR2soffJBfKU7ZnwPMIzOmftDIx4UvW1
        2Wrcvqu6hX+PtfpQO5z8UOxIG86dfInoM3qmSGYhjM4rzzugkxSPdGQOhtrfpPdH
        cS0Rg+YuIpTGcrHP+AB046sAUSb78jskWOThSy/6I7YYAPib+M84374=
        -----END RSA PRIVATE KEY-----
        """

    static let xcodePEM = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEowIBAAKCAQEAp59mXqhHjtyrRwM9Axk+6l9qdNpAO7Fk9Um0PajRYfWVALF4
        7yGk/5jlF6A4kqHfdpC7GHV6WX7t47iNgAyrVlP8m6gcuwT3ErVCL0CgIv7Qtprh
        HyeOaVunGpW1RlkO/h/wwuh5MERCT23VeOqr8/dReIt//9tWU2dO/OBpkW2tw/ei
        HRWC14Uhg7ABAip6BccPceV80wO0+VyKmmo3Ikoa59hfLAQxu57aL8c2kwZZS4et
        sIhR+1kYRa9Wapr6Jog9wjFM8WsrP9YASNaOkalfeIz/pGq4iQv8r/mZ5Pq2F/x0
        MEITmcpa8ea2bQXI6ye+hj/wgDT03dqeEh0X9QIDAQABAoIBAAChw3n5UW0SuOLL
        CNUDNr1yqoXneA324tfSipWRlmgI9rBVQgy6gSEeNESpXZKQYYrGRQK7wqPQgbxL
        FaUG/IhdR3c5pC4V3FE/IDwGJRDXX6BhfMD9s3YDN0VwN9EcrysP923FjumeR13v
        16ur2s0XJBY0oqSAxlZeQ2LoxBtV9OM6dVAOyx74K6gz+s9uqoYXJ1wGdBMTYEa6
        EXOMJ2setbIU+o3gbeGeMFmZkN4Zq6wSBwkChnhENTtXnB2EqUxrOqOD+m3+vw8Z
        nVOV2bdXEQMwvzjjXcU3DU9gaPWgyVk35v2w4B51UsXN3CNZaB/CtKsaqs2Ua+mZ
        I0ZjrAECgYEA4f8sb9MYLU2H7OLVcZG7f/C3rGWBHrXYkmGC91tkTkaJyN0JLsYd
        5O3o6+Dk9iwdD+kgfjjyXVBzz5cfgIpQF+3G/GPuaOpwJOS48JjAgqshMCwwLKb5
        qgKi0EG33LlbX81Gx2jxTswJteO9l8riEhADscKrxOzx9TiWN3hzbfUCgYEAveBM
        OAdyhx6c0puWrNT4QwqhFUNGRZ4rZ1YnkP8SfpgI7kOtbcyO/dSagTUfmBOwA10S
        oBY8LCXKHTl2UduSvo/wsDgH4kUzYmRRLYfWEKdgRV46M61ycmB8UTt8Kp+Jmd7M
        twtEiAM8AGWj2saIbStzRyk9VyCzfgrDWiM+wgECgYBSb+RjvhrZm6hzbqLxVHmS
        x9oYFsaszyR68Pr3A+1o6C4miQpqd3Y8JdSLBnQ+oATR4vYpVNiD1W8JUFT7bHie
        4ett8X3r42iY7J3RlcbTY10t11CTWS1FKMT/Npm8+BgusBCbeNpdJex83uAv2J/y
        esj+NMa3hL8V9lhFT7i7aQKBgQCPTNmZK5229laa6EvmMnEPf9Uki/pcDkxpl+8S
        kj8uBaYv1CnuhQSh8zOMMkCe8LTVRQgKg91z4C1SswxmKRXt9gpLpG3myh1Gs7lE
        aJEZTojssXmxiMSoJ8OLNx61uGQMGcdcmgdlszM0hYENWuqZocJFwY0G1apBhPP8
        cj8qAQKBgHgtYAMi1m2cr18nmIVjgn3bmedYizBE5FG7jBD7ima1gemlpV6MS1Qn
        n65fWPAX5ZCYwN0D6QjXGW0pXE5nFISyWH+TQT6iA3nwvPF2OgviHyrnoJOajUbX
        k/+79MTrgWoKgpiDGmGTNMHqlBkKmllM8l5EcOIO/sE+AUe/GvLP
        -----END RSA PRIVATE KEY-----
        """
}
