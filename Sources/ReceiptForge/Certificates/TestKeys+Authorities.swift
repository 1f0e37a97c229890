// TEST KEYS: see TestKey.swift. Public, of no value, trusted by nobody.

extension TestKey {
    static let rootCAPEM = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEpAIBAAKCAQEAtWWrkr00mvvKgivp7JL0/mjeKoZFMK63kZboNTVZa9PTDd1+
        uUjTgTOPUhnxK9CdvaUFrJqYycxPugIzPQ+DawDDfWGOyNX3/e74bdrS/h8cqW1M
        qFZXlLX3bxb8nbpvhEuT9Ur8lBVacTqOWzyhs0vpa8alQ+HJM1BAvkaIr1QT1oRZ
        paaDDMK+yqkfY+YqtXcp6vm8RThOX92UVFOLbfZJ/j7ee0omNRfCTOUCmkWoffVU
        dTifZcaSmLH3MhQ8rW5pp+iE41FRYKyKC9jH4D78GWYzmgk6nMTAqzLChHVJCwR3
        H3Y4im87HPeMKX+2x7BcywAV87sq+D66jWn75QIDAQABAoIBAAsULT5xFTLCCMRF
        L6xQmBX8YaqcjhftvoMYgbt+M/qZ8rH4wodJI2HTZwAksCN07QLAKXCOoKDykYv9
        cROxoYfPgXZkQaGShUBFGsyFfjghvlEQE+EpeiqNp+cTsv9ke5sg4pCAsUckvA6z
        p4N7Ay/oMFbHcyCKPGJIlyuyiHaXbp1WC6/62myp5G6mClftdyxlXwvlHYBX4Okg
        GfuGjsi7dgvswgqE1xyl7yVuWtrJh6UF5XKAxzbSODC9GlOhe+34eP905kJoXiul
        VlMdmV44T3NwrNIYKASVtRiXdiUE+WeXgblaocCt+T3XXoLfZkpHNxIVRU+KbWNn
        uVZu2QECgYEA//e/jJjXtA+eiaIm/AZE24KLo9vnqlh04OsROkSKPCX6ulA7X4+L
        a+xxL3so0z3ObTyHxxni03GdSpEq4fVnkyc60ySvnZ5uQva64deUUGc67XrvZXgq
        0K1lFFvQajjSuMqtV0XoYLB9D5MbwMhezOse8DStoSi2Hq+xtmkln0kCgYEAtWuE
        m4ufPbVnVd6r3DReVuzfiQw/AbbdnM5GGTCrJQeKZGYID2zs191kKAIpUhS5QB+l
        Kj1uasOh7O97dbka3hbj1crRhhkkgvxlKnpIyOxfc7AF4ejtSZFfvHNrorYH+QUZ
        pCTUmDGgsYULRVoZVbbdZ47hlsQ24BQI4BoxS70CgYEApiL+v9ngf2134CtQFFpZ
        TQSBcBxmVClPy0CnkOM1ue6Iu28h6ld4DdeMa14L1HgUSNB17GO/1q+ygNiSNdEb
        peZbhvoTxkEzneEY0Ucka79k/wjA42JIn+M7bShesOMq2mgqdC/asQ88TOSVqd4j
        seuVzCDU5XpQIsC0nwnGMokCgYA9Cq80svbiiX36e5Cx6ADyGINiFnfAuOm6EAGw
        Chsbu3zKKTZ/EjRisYA4ofmLP6PROpSVMNRNIgQCt9V/l8e9gFAqqDJ1f1I0rH3R
        nBGPYVEAmPJxv7DPdxWST/egaMUn+ZpWC3potxINiOlw7U7m8z9tz7qBwwV/wd32
        oXmCtQKBgQCunQuU+WanJMktO5n8PMpriTFQlvuQetlFLVQ/z1bIp7u1Fw3eYs7b
        7xqHN3ulhfwIULT3Bkv1aCSX5Irl7VtsDRiteAkTwG0utel1B2iYGb6nLo/lva5P
        ilEPDEPh0cWYiMbQ7T1seVNwTBgFm4BnsIOTsPq6WFAehlgrbC2/JQ==
        -----END RSA PRIVATE KEY-----
        """

    static let wwdrPEM = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEpAIBAAKCAQEAtgg8wqHnw9JxmXI1Z4xtlnAVXTxTu4RtfkWwIGDHdp5PzccY
        TrupiCY0LlCqXC6B7QtU0isRHex54MQ3eWFQbfXRuBexVRMMijCJTco59aNtVpze
        cBDFWYarxCkMmOiuap3Enjxi3vCXSJ56aCKe2S0v25a1Vse0W8f9Y3VjfoUQEuyr
        hjjw7Te405t+z2J+Iw0OdcYrmi2jFVA6BO/eUAKX5xLFh0t2B3b2Yyscmy1LRVW/
        lbyWIG2Z+0tPWEx4uQQiGYewqg577zoU60xdIQ+NUrQh5+keiVvOTVUvQdU1Ul40
        xT4FXhVjboADrpPQ8j8dQpONSztsQdM3fkFNswIDAQABAoIBAEJgupdWpsb3hEkq
        JmM+B/AlqwS2rOniHnM/QjxsTg/pJryo7yo2sFlfZQPGknjO1L31tdZ1seYxhzf5
        FSmD3OpcCz+QFDArpBT4Ifll1sDF+WbuCQbgdrZwr032kgtoPcHPChWRe5REM0Zd
        09EJXtde7OasDDA63n/ha3rLIZ7OlHYjMbxRP7/uptGoh7yw9nsOaYJ0GNyXf/KF
        +gUPzFu4g/GQQyBPXzN+F2xwBySs6EK7kAHTeikmxsxtT7wX0JvAFqQ6zGDAlKkX
        BEA28vnhwiUKLXhcb6gN8qNxRH7JaHW58H9UbTfWPkIZsF9v0eXc5xrJwe/Wf5uc
        MnkmgjECgYEA8GwJ04k2Gn2RvnRvRzYznh9xOasivmxvh1Qp8k3lP4nzgr2nwWao
        qMtz3rTlB/uw2BKgye1YC6Nz+JsVHpiKvGhDsh5Uuam1+eo1Badyee9bbhpLZWYW
        44TkzmvbMjCwNXS6M8XsQwldIU0+nvloisLAXLEznkcODNfSDvnQjmcCgYEAwdOq
        sRY9DAb8ZVyhVFC9YKVacBvtPabqQiAU8SY8aqy51q/7fqs5l34oIB3FqtJj0sav
        38TDn17HMqnCqxwvuIyllqYbf6ahra+gKGdyEtVFW4r5qrgXFpy19Vi0SPOZ8R0Y
        a+8tSfdFuPeg4HbdZ1UblvyHwPrJ57x9kZxnXtUCgYEA4cymQe0ZSjHq4tPZ+yi1
        u+lN3tqS7ANNj+0E5FQyXcWDVaQn3OU8vCMwtNZyUFgblCOSrXNjALNH5RJJ+I1N
        p3vJMI16B1GT3p8PozrLsieSWEsLyrTiBFc4yYHUwUOnCt2RT7Swm5k8xV0V1hrq
        C4CzR5sJnrqfQIKl/3iyXjsCgYAON39So+XwZubGbIfszktFtnsus+2v0vllxkKi
        +YH+9RJge+H/hYGg6gD5chWYlPv7btVhnWYX33TO84Ky2Etrxu0yYparw0Yinjoq
        HIRSe1AuCcCMVBplbzMtfscifrOw6shqyk1RGpEDoy4qqK1OsgBnD7jJX9vFYp73
        OjiezQKBgQCntlh9DIzFSe5n9wXzDFhWstXU28Ju+h5qdwdLm7RMnKOpMvsW80Ol
        ahhs2hKaqkb5HuxhgApzBpaCBUgbuYdWHpvIo6XtYoNRgUQqQHc4yzhI7HL4EQBv
        7Ec5soNPhfALojEpu5zmoYlxYQLjGHk1CSYYRohJmpmFxGOfPuEkTA==
        -----END RSA PRIVATE KEY-----
        """

    static let wwdrG5PEM = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEowIBAAKCAQEA2HXHfr+fA1zJ38gy7fAfNm/Klt7CJ64wSqG1s4Ayg+5qp0H0
        JJAvMwFbF1srj4pPtubE7HnzUHoiIK87/i3eq0m1QwAX6CFbTo8J+AyItHyIsKjZ
        SGWhR9fDTURfPRIq787aQnriXK9IhloRaJ8s5VO9UNmOsCC4u4i7CLYHuG8NU5bn
        LrptpUww5wCgSm7LNFSNS4f4dwhFpMexr/a6XXrjOmFRJnTXGm/1uUA3MjawtwgN
        evnfhbKn0AccZQmjanJb7Z8Kkskuwk20/ab6B1dsyBt1pz4OWmxOIVRH78XwTGBf
        GktL7/BgHTA5wK20mDnhXBGVMkLZqpzwCZbPPwIDAQABAoIBAFwz70JiRU2dXLBi
        Cq+ntOPvQpB5WqKkZBWmREuts9bW279bLK/WawSC81ZDk46VD9eM/Rzt5WLGY3sg
        qaFf0JWN1BQyGfzbGJWiAFEUpbabxW3avpNEFysPETX8hcTx1DBKIFZpGbr5Px9b
        hkbWZr1Yqi+iPFFx3r6jQ2g2gZthibK6rd50Gl+N47I5vPooiga2w9EQw21g9phj
        Rmg/u677JPbLS/jPDz8fKU18djGA92BaPou9sbnbUzOSXs2q4ssWsHEBJPTPs64r
        /7kwzKb3/gR9k0bh7x5pK3KtLrOyfFqnGKsbDf3iHgI18T1PsMGAqfcvPGvo5kbA
        c00AK8ECgYEA95YRZAOfH+1prs2jHJlxAhsCkJSe6mJg197f4JKJqhIUmreo0o8o
        Azp3/jom756WYXraOH0bQIFtbjKVHsYuA8cnC4t2iSwxel7zYTLt4hc+iDq7SoDV
        ZHRsVb39T2VoOJpbYMR2LRf23291A1H8MkTVMbjkvRgZNpf3iVyL6vkCgYEA39Ds
        LadKwwdfAxHxRlL/3+vwImyyzHAY6+iEBIKS62eeS94XgsWQd79o+n+YmpsBw50A
        1Xys3hzpJRVhGG8xdDm/fRB0PBdtjZk9qWVB3KBFvsQSS8FzSG6+6r5zYuigZ20G
        1XOxmk4NINOyc2din/145wcfBNMinF0C2L31IfcCgYBlA8p2pu+ehCwRUP9S5Nvx
        wvlp6elosdjXWqy3ILKgPB5B/dsYhaYKoylgBXPrYiXzAb/VOl4LFIOEaYjj9HHD
        wtaQZEdpsilBx0m/h5r9GwS9alEOFcB66vFkjk6yvSonpfrQYXfh8Bwej4gLYcDm
        9aSSU+CnshRfbONnHOZNaQKBgBc3RqhdqAWe6B4baFmRFnWVtaz8dXd7UTp3Pepx
        2OeOMf9QpEOuVpP1SOBjB+NRnNc7m/CJJC1N9mkgVJgCQLD7pH9Gi6gIDhcYBCtk
        E3bdMR7em78768dhpXAYHUPvOWRBDOprO8rzuazkCKir2rEZy8a7GF6ZwAdUJo1w
        9tJ1AoGBAOP0KJ6+01Iyuqw1N9W3gFqDY7qL7+LLPTFddrfQmzdaYK4GgJaUSwnk
        hav2pDbhHCaFpcU/tHb84n6lmPaYinQEB7QJA3/o6cj0E6W4D56GFZPZIUKKk8vN
        7voHx/0cavA3LhYhe77OCyo60YTjsCBKS6yfjBSxfKKN6x60bSKh
        -----END RSA PRIVATE KEY-----
        """

    static let iTunesStoreCAPEM = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEowIBAAKCAQEAvwpE8DhZBsWt3wULkQk1uoB844J+3w+byIyNm+Gf9/Iotv+p
        Lcl1niHDGwlxhDEb17d9kt1uyk/v3T6u03D9rvWyDHy5gAU11qzZqW2FnN0DLVBr
        dVLanMSblZcQ3J0Lfdt1pE8obswLO1CF233bD90crGJGsDbaQ4off1pR37yMrILH
        jPJnYnM+gFZXJ9aOcM1q1Uq47KB+Ld0JJ1lUzhBkTAoQwLCwlUY4gnqZQy/4lBRa
        4Q9zLlIik6AC87ue0cYJQic0SlacArMRMOIlwGPJnYPN3ea0dXX6CayJnXwzyy/Q
        XIU0odQUAjWcMs3SMomuP7Hoow2JUzOoyGcS9wIDAQABAoIBACZociO5sGxkIejM
        ot6t81djrbgv7EH8aV2QpIfKfNbkoLrp+6Fw92yrbQZqh6AEH4znHx//1N5n49mf
        WJa6CMa8LufDy6epZIGcjsY5drtq09CwcmpMFheej4krrgAssrrC/IvkPkTIURnD
        vqW6T+iIk9M0jvGulYMuqdZ42i0Y6mKZMDFiY7AQ2PVoKav4CDjJcZJ0elEYkKK9
        2ySVDTEL6DS72GhzSWK5cWMaMsJyymKKlqJUNGrvzb86dfbhTi9JmEI5LSKm0mQ8
        lO1RPW1UYkEBaI6mE/+fGBy6EAodoO6DEFFYi2TfknbcDJ6hmye57tIPgluwmeOf
        x1B/V4ECgYEA3nsjlFc+yqBWL79q0VD2aOogvsSgZwA1fC93XQNWstTUh6NIfwdo
        S0Kqeab86Nvw+7bP/7ignS4vlHJGeNYF5yGTEC+JIvHmsTFDBxccVVYN4mFOz8I2
        JPJGhcYmWNzufce3DZlBQZz8Hz69/YbhfQC79Liv89usxM185cX4La8CgYEA29J8
        1W7Z5/DPoaw5uVz7a+v8NWSjO5aP96u8SlNCK7mj0rLvoh3G4izIbkETQhw4DgOQ
        B5giisl+3qn46f4rv8JjofSXPbmpfD66UHm2D9w7zGVTbWXbuEfnphV5MmF5Im0W
        3CsUI5CFbvcZq4VBKkTSuhJPHv6nsVJjZFhCSTkCgYAE08sr1tDH+L6l/pNEw2r1
        T88yFHYehgSjEyyV2hKxgqix4Lsb9n8u0t18EkF+k/cgnxDYTZs+jdf+cpRQ3uP1
        5eaY/U8OcQ0+XwFDUB8PQvS+KrpZC6+9EXyyPmBqoTCTjhfMtbySveNCkkvxClIu
        Mivh3XgD5IpVIthI7Ai8hQKBgQCyDYCH8M4YDPphXfszpZkRBYi4RtfhAEeEuVo+
        acoDWM7Vb5KiobPip5uBkrxipDDTSRd0z0nLWQKmoM652eLd5DqHiHKo0KXzuWt4
        m91YY28cVEaLKiIa1kNQR7xvjnxr4ijOFSau1/T8uLHWOI1cC3sUtJfZ5zM1ciKH
        uOWYIQKBgEi34LHBIW24jMBU1fyUGhl0F6EkK3fUZlh91DhcPeKlf2YIcpc2s2CA
        j3jzzH0BoL8F7yxSZJ1d+nSV9Yg5UHnr9K74LXXbvtTZBUugNRHR3yJtmZAF0QbR
        qodDQWaz8KlQdEo0f6dJAMPGUgJD8HEqXfQuVS16wZV/9x6/2Aew
        -----END RSA PRIVATE KEY-----
        """
}
