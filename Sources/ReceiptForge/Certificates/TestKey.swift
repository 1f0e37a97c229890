// TEST KEYS. They are public and were created for this file. They sign nothing of value: only certificates whose
// subjects begin with "Test" or "Foreign Test", and receipts for apps that do not exist. A verifier trusts them only if
// its caller adds their root.

/// The fixed keys of the test certificate authorities: RSA for receipts, elliptic curves for signed data (JWS).
///
/// They are fixed because PKCS#1 v1.5 signatures are deterministic: the same key and the same bytes always give the
/// same receipt, on every machine. ECDSA signatures are not deterministic.
public enum TestKey: String, CaseIterable, Hashable, Sendable {
    /// Signs the intermediates, in the place of Apple Root CA.
    case rootCA
    /// The SHA-1 intermediates, in the place of the Worldwide Developer Relations authority.
    case wwdr
    /// The SHA-256 intermediate, in the place of WWDR G5.
    case wwdrG5
    /// The leaves that sign SHA-1 receipts.
    case receiptSigning
    /// The leaf that signs SHA-256 receipts.
    case receiptSigningG5
    /// The intermediate of iOS 6 receipts.
    case iTunesStoreCA
    /// A developer's own certificate under the intermediate.
    case developer
    /// The self-signed certificate in the place of Xcode's StoreKit one.
    case xcode
    /// An untrusted root.
    case foreignRootCA
    /// An intermediate under the foreign root.
    case foreignIntermediate
    /// A leaf under the foreign intermediate.
    case foreignLeaf
    /// The RSA-1024 leaf of iOS 6 receipts of version 2.
    case purchaseReceipt
    /// An RSA-1024 leaf that is not pinned.
    case foreignPurchaseReceipt
    /// Signs the intermediate of signed data (JWS), in the place of Apple Root CA - G3. P-384.
    case signedDataRootCA
    /// The intermediate of signed data, in the place of WWDR G6. P-384.
    case signedDataIntermediate
    /// The leaf that signs JWS. P-256.
    case signedDataLeaf
    /// A developer's own certificate under the intermediate of signed data. P-256.
    case signedDataDeveloper
    /// The self-signed certificate in the place of Xcode's for JWS. P-256.
    case signedDataXcode
    /// Signs the revocation status of certificates for the intermediate (OCSP). P-256.
    case signedDataResponder
    /// An untrusted root of signed data. P-384.
    case foreignSignedDataRootCA
    /// An intermediate under that root. P-384.
    case foreignSignedDataIntermediate
    /// A leaf under that intermediate. P-256.
    case foreignSignedDataLeaf
}

extension TestKey {
    /// The private key in PEM (RSA: PKCS#1; elliptic curves: PKCS#8).
    public var privateKeyPEM: String {
        switch self {
        case .rootCA:
            """
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
        case .wwdr:
            """
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
        case .wwdrG5:
            """
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
        case .receiptSigning:
            """
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
        case .receiptSigningG5:
            """
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
        case .iTunesStoreCA:
            """
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
        case .developer:
            """
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
        case .xcode:
            """
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
        case .foreignRootCA:
            """
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
        case .foreignIntermediate:
            """
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
        case .foreignLeaf:
            """
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
        case .purchaseReceipt:
            """
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
        case .foreignPurchaseReceipt:
            """
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
        case .signedDataRootCA:
            """
            -----BEGIN PRIVATE KEY-----
            MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDCeyVENLZhsBUt2+tFL
            C7OwxKzkl+ceH5p0SU2eG5j1vkOkPJw+Wz5bQHnvP16V/+yhZANiAASta6sgcIMg
            dKbU1i0La66xkjb4JVmJWPUyvkRbaI7uDBAGL2mLiGcXvBlvSvZYGMdIEnBaO3G1
            tv7R+fg7oFg0GfrRu2e+a61c2IXZCJKcN14zvphMaWb1FyqXLqFFel4=
            -----END PRIVATE KEY-----
            """
        case .signedDataIntermediate:
            """
            -----BEGIN PRIVATE KEY-----
            MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDDIjJzv5nB2ILGolMH2
            8KDfPPcW23U8UgBCNT3jXVK6pIyYnW76UPKs7V9/slcUn8qhZANiAATEtg7QPjdl
            lOqEIFm2kImeRXMr70merVUftqdsR3/1XcAvSV3KgjwJFhxPTbwIg+QtmuK3qdrP
            BigIdYJWGnSaHXtvVjgK0iEmlkaYOwkRWjyO45cJh+2rD7RPMsiIIlA=
            -----END PRIVATE KEY-----
            """
        case .signedDataLeaf:
            """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQghxalyYPeQKXtdhRg
            WzuTKTO6L7FSPhPhPD8d7A7D5WOhRANCAASQTQBus85Y2o+KbZQbz590iMaC47GA
            ay9EhJTyO5/Oio4sf4Kyw3OshpEhZj18xuJUIMBoG8qX+i0qC7MLxumy
            -----END PRIVATE KEY-----
            """
        case .signedDataDeveloper:
            """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgxOIyOZdL+VRPoZ/y
            X4ufpTRdz4ajS16STBefweMUDFyhRANCAATvakTKU9I+ukLdsw2ZuvrB7losY4i0
            6unmFCrVeS6T2sIZ3vD+dQGx5GjJGJ95MK8JDg3eCQMPUQlkmmjo4Hlh
            -----END PRIVATE KEY-----
            """
        case .signedDataXcode:
            """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgEWsqm0ObkRH3PhZ7
            8fBC1WqlW/LJkZStb4Y7C8svuEKhRANCAASBU0t0MErT2ux0KyUsU04RzSDU/5sS
            mBJIG8lUACYTpWuabvxtNp/DJ+2Cnuuocjo51UsSxRH3IfIUGGWvhs5R
            -----END PRIVATE KEY-----
            """
        case .signedDataResponder:
            """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgB1LrG1L4jnzPf+jy
            VWBu6eL8ZQ/WUdrLoPqHbDRe3tyhRANCAAT5DWSpeYclHp0cYELNuz4GwWvMl17h
            fa84CthklQts2VG9DiJFMrnxD4l13ljLzO+RRcCfs6BodM30r4ts9yu2
            -----END PRIVATE KEY-----
            """
        case .foreignSignedDataRootCA:
            """
            -----BEGIN PRIVATE KEY-----
            MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDBRlmq6UukaTqCN7Wdv
            VV3a2pBvq2NX5jYBUzqHLtw1I7GYMjbwdqwUK4UpDE6UMxWhZANiAAT+fX6Wtkko
            KBBij/Ux5qJECvPlNippaMyZXtnxbH7C2LhVPPzjlXrUBwIT7B6LFV8uOg1Iq+54
            C3G/B2vzTniLER0LzpQE4SQuzs/1XdZXViVcbwUT1zL+053jpNovc0U=
            -----END PRIVATE KEY-----
            """
        case .foreignSignedDataIntermediate:
            """
            -----BEGIN PRIVATE KEY-----
            MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDDJ9S06E30JjoSXIYiP
            cJ1lKAHOzLxpc/TBVsUlT0VX/qGwr3XbgNiykU9a3xV+G5yhZANiAAR+w4p9SuB9
            a7+NCAjIzXV5AxyJwZnjqAYoGxB94W1os8qnbS+AvHEaznQChOEXv74qXdvA/p99
            zWVLpvqyhCChmdVbBmvrpcAsguiALdyrsxnTeLx0Xv2yvMHH5KGoCWo=
            -----END PRIVATE KEY-----
            """
        case .foreignSignedDataLeaf:
            """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgkmN9Auak4fodEjFx
            obHJwNmCXP/rtz3zCkBbLhfdP/WhRANCAAShMASaO6lry43zwMPbTzj0/GMs4mu7
            VS0RzxmI/aC7aG0gxGtSLyISeco3+oA3mX4XwSdRgbAykPsByOqUBphF
            -----END PRIVATE KEY-----
            """
        }
    }
}
