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
        let label = isRSA ? "RSA PRIVATE KEY" : "PRIVATE KEY"
        let text = base64.utf8.filter { $0 != UInt8(ascii: "\n") }
        // RFC 7468, 2.
        let lines = stride(from: 0, to: text.count, by: 64).map {
            String(decoding: text[$0..<min($0 + 64, text.count)], as: UTF8.self)
        }
        return (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----"]).joined(separator: "\n")
    }

    private var isRSA: Bool {
        switch self {
        case .signedDataRootCA, .signedDataIntermediate, .signedDataLeaf, .signedDataDeveloper, .signedDataXcode,
            .signedDataResponder, .foreignSignedDataRootCA, .foreignSignedDataIntermediate, .foreignSignedDataLeaf:
            false
        default: true
        }
    }

    /// The private key in DER, in lines as long as those of ``TestSignedDataAuthority``'s certificates.
    private var base64: String {
        switch self {
        case .rootCA:
            """
            MIIEpAIBAAKCAQEAtWWrkr00mvvKgivp7JL0/mjeKoZFMK63kZboNTVZa9PTDd1+uUjTgTOPUhnxK9CdvaUFrJqYycxPugIzPQ+DawDD
            fWGOyNX3/e74bdrS/h8cqW1MqFZXlLX3bxb8nbpvhEuT9Ur8lBVacTqOWzyhs0vpa8alQ+HJM1BAvkaIr1QT1oRZpaaDDMK+yqkfY+Yq
            tXcp6vm8RThOX92UVFOLbfZJ/j7ee0omNRfCTOUCmkWoffVUdTifZcaSmLH3MhQ8rW5pp+iE41FRYKyKC9jH4D78GWYzmgk6nMTAqzLC
            hHVJCwR3H3Y4im87HPeMKX+2x7BcywAV87sq+D66jWn75QIDAQABAoIBAAsULT5xFTLCCMRFL6xQmBX8YaqcjhftvoMYgbt+M/qZ8rH4
            wodJI2HTZwAksCN07QLAKXCOoKDykYv9cROxoYfPgXZkQaGShUBFGsyFfjghvlEQE+EpeiqNp+cTsv9ke5sg4pCAsUckvA6zp4N7Ay/o
            MFbHcyCKPGJIlyuyiHaXbp1WC6/62myp5G6mClftdyxlXwvlHYBX4OkgGfuGjsi7dgvswgqE1xyl7yVuWtrJh6UF5XKAxzbSODC9GlOh
            e+34eP905kJoXiulVlMdmV44T3NwrNIYKASVtRiXdiUE+WeXgblaocCt+T3XXoLfZkpHNxIVRU+KbWNnuVZu2QECgYEA//e/jJjXtA+e
            iaIm/AZE24KLo9vnqlh04OsROkSKPCX6ulA7X4+La+xxL3so0z3ObTyHxxni03GdSpEq4fVnkyc60ySvnZ5uQva64deUUGc67XrvZXgq
            0K1lFFvQajjSuMqtV0XoYLB9D5MbwMhezOse8DStoSi2Hq+xtmkln0kCgYEAtWuEm4ufPbVnVd6r3DReVuzfiQw/AbbdnM5GGTCrJQeK
            ZGYID2zs191kKAIpUhS5QB+lKj1uasOh7O97dbka3hbj1crRhhkkgvxlKnpIyOxfc7AF4ejtSZFfvHNrorYH+QUZpCTUmDGgsYULRVoZ
            VbbdZ47hlsQ24BQI4BoxS70CgYEApiL+v9ngf2134CtQFFpZTQSBcBxmVClPy0CnkOM1ue6Iu28h6ld4DdeMa14L1HgUSNB17GO/1q+y
            gNiSNdEbpeZbhvoTxkEzneEY0Ucka79k/wjA42JIn+M7bShesOMq2mgqdC/asQ88TOSVqd4jseuVzCDU5XpQIsC0nwnGMokCgYA9Cq80
            svbiiX36e5Cx6ADyGINiFnfAuOm6EAGwChsbu3zKKTZ/EjRisYA4ofmLP6PROpSVMNRNIgQCt9V/l8e9gFAqqDJ1f1I0rH3RnBGPYVEA
            mPJxv7DPdxWST/egaMUn+ZpWC3potxINiOlw7U7m8z9tz7qBwwV/wd32oXmCtQKBgQCunQuU+WanJMktO5n8PMpriTFQlvuQetlFLVQ/
            z1bIp7u1Fw3eYs7b7xqHN3ulhfwIULT3Bkv1aCSX5Irl7VtsDRiteAkTwG0utel1B2iYGb6nLo/lva5PilEPDEPh0cWYiMbQ7T1seVNw
            TBgFm4BnsIOTsPq6WFAehlgrbC2/JQ==
            """
        case .wwdr:
            """
            MIIEpAIBAAKCAQEAtgg8wqHnw9JxmXI1Z4xtlnAVXTxTu4RtfkWwIGDHdp5PzccYTrupiCY0LlCqXC6B7QtU0isRHex54MQ3eWFQbfXR
            uBexVRMMijCJTco59aNtVpzecBDFWYarxCkMmOiuap3Enjxi3vCXSJ56aCKe2S0v25a1Vse0W8f9Y3VjfoUQEuyrhjjw7Te405t+z2J+
            Iw0OdcYrmi2jFVA6BO/eUAKX5xLFh0t2B3b2Yyscmy1LRVW/lbyWIG2Z+0tPWEx4uQQiGYewqg577zoU60xdIQ+NUrQh5+keiVvOTVUv
            QdU1Ul40xT4FXhVjboADrpPQ8j8dQpONSztsQdM3fkFNswIDAQABAoIBAEJgupdWpsb3hEkqJmM+B/AlqwS2rOniHnM/QjxsTg/pJryo
            7yo2sFlfZQPGknjO1L31tdZ1seYxhzf5FSmD3OpcCz+QFDArpBT4Ifll1sDF+WbuCQbgdrZwr032kgtoPcHPChWRe5REM0Zd09EJXtde
            7OasDDA63n/ha3rLIZ7OlHYjMbxRP7/uptGoh7yw9nsOaYJ0GNyXf/KF+gUPzFu4g/GQQyBPXzN+F2xwBySs6EK7kAHTeikmxsxtT7wX
            0JvAFqQ6zGDAlKkXBEA28vnhwiUKLXhcb6gN8qNxRH7JaHW58H9UbTfWPkIZsF9v0eXc5xrJwe/Wf5ucMnkmgjECgYEA8GwJ04k2Gn2R
            vnRvRzYznh9xOasivmxvh1Qp8k3lP4nzgr2nwWaoqMtz3rTlB/uw2BKgye1YC6Nz+JsVHpiKvGhDsh5Uuam1+eo1Badyee9bbhpLZWYW
            44TkzmvbMjCwNXS6M8XsQwldIU0+nvloisLAXLEznkcODNfSDvnQjmcCgYEAwdOqsRY9DAb8ZVyhVFC9YKVacBvtPabqQiAU8SY8aqy5
            1q/7fqs5l34oIB3FqtJj0sav38TDn17HMqnCqxwvuIyllqYbf6ahra+gKGdyEtVFW4r5qrgXFpy19Vi0SPOZ8R0Ya+8tSfdFuPeg4Hbd
            Z1UblvyHwPrJ57x9kZxnXtUCgYEA4cymQe0ZSjHq4tPZ+yi1u+lN3tqS7ANNj+0E5FQyXcWDVaQn3OU8vCMwtNZyUFgblCOSrXNjALNH
            5RJJ+I1Np3vJMI16B1GT3p8PozrLsieSWEsLyrTiBFc4yYHUwUOnCt2RT7Swm5k8xV0V1hrqC4CzR5sJnrqfQIKl/3iyXjsCgYAON39S
            o+XwZubGbIfszktFtnsus+2v0vllxkKi+YH+9RJge+H/hYGg6gD5chWYlPv7btVhnWYX33TO84Ky2Etrxu0yYparw0YinjoqHIRSe1Au
            CcCMVBplbzMtfscifrOw6shqyk1RGpEDoy4qqK1OsgBnD7jJX9vFYp73OjiezQKBgQCntlh9DIzFSe5n9wXzDFhWstXU28Ju+h5qdwdL
            m7RMnKOpMvsW80Olahhs2hKaqkb5HuxhgApzBpaCBUgbuYdWHpvIo6XtYoNRgUQqQHc4yzhI7HL4EQBv7Ec5soNPhfALojEpu5zmoYlx
            YQLjGHk1CSYYRohJmpmFxGOfPuEkTA==
            """
        case .wwdrG5:
            """
            MIIEowIBAAKCAQEA2HXHfr+fA1zJ38gy7fAfNm/Klt7CJ64wSqG1s4Ayg+5qp0H0JJAvMwFbF1srj4pPtubE7HnzUHoiIK87/i3eq0m1
            QwAX6CFbTo8J+AyItHyIsKjZSGWhR9fDTURfPRIq787aQnriXK9IhloRaJ8s5VO9UNmOsCC4u4i7CLYHuG8NU5bnLrptpUww5wCgSm7L
            NFSNS4f4dwhFpMexr/a6XXrjOmFRJnTXGm/1uUA3MjawtwgNevnfhbKn0AccZQmjanJb7Z8Kkskuwk20/ab6B1dsyBt1pz4OWmxOIVRH
            78XwTGBfGktL7/BgHTA5wK20mDnhXBGVMkLZqpzwCZbPPwIDAQABAoIBAFwz70JiRU2dXLBiCq+ntOPvQpB5WqKkZBWmREuts9bW279b
            LK/WawSC81ZDk46VD9eM/Rzt5WLGY3sgqaFf0JWN1BQyGfzbGJWiAFEUpbabxW3avpNEFysPETX8hcTx1DBKIFZpGbr5Px9bhkbWZr1Y
            qi+iPFFx3r6jQ2g2gZthibK6rd50Gl+N47I5vPooiga2w9EQw21g9phjRmg/u677JPbLS/jPDz8fKU18djGA92BaPou9sbnbUzOSXs2q
            4ssWsHEBJPTPs64r/7kwzKb3/gR9k0bh7x5pK3KtLrOyfFqnGKsbDf3iHgI18T1PsMGAqfcvPGvo5kbAc00AK8ECgYEA95YRZAOfH+1p
            rs2jHJlxAhsCkJSe6mJg197f4JKJqhIUmreo0o8oAzp3/jom756WYXraOH0bQIFtbjKVHsYuA8cnC4t2iSwxel7zYTLt4hc+iDq7SoDV
            ZHRsVb39T2VoOJpbYMR2LRf23291A1H8MkTVMbjkvRgZNpf3iVyL6vkCgYEA39DsLadKwwdfAxHxRlL/3+vwImyyzHAY6+iEBIKS62ee
            S94XgsWQd79o+n+YmpsBw50A1Xys3hzpJRVhGG8xdDm/fRB0PBdtjZk9qWVB3KBFvsQSS8FzSG6+6r5zYuigZ20G1XOxmk4NINOyc2di
            n/145wcfBNMinF0C2L31IfcCgYBlA8p2pu+ehCwRUP9S5Nvxwvlp6elosdjXWqy3ILKgPB5B/dsYhaYKoylgBXPrYiXzAb/VOl4LFIOE
            aYjj9HHDwtaQZEdpsilBx0m/h5r9GwS9alEOFcB66vFkjk6yvSonpfrQYXfh8Bwej4gLYcDm9aSSU+CnshRfbONnHOZNaQKBgBc3Rqhd
            qAWe6B4baFmRFnWVtaz8dXd7UTp3Pepx2OeOMf9QpEOuVpP1SOBjB+NRnNc7m/CJJC1N9mkgVJgCQLD7pH9Gi6gIDhcYBCtkE3bdMR7e
            m78768dhpXAYHUPvOWRBDOprO8rzuazkCKir2rEZy8a7GF6ZwAdUJo1w9tJ1AoGBAOP0KJ6+01Iyuqw1N9W3gFqDY7qL7+LLPTFddrfQ
            mzdaYK4GgJaUSwnkhav2pDbhHCaFpcU/tHb84n6lmPaYinQEB7QJA3/o6cj0E6W4D56GFZPZIUKKk8vN7voHx/0cavA3LhYhe77OCyo6
            0YTjsCBKS6yfjBSxfKKN6x60bSKh
            """
        case .receiptSigning:
            """
            MIIEpAIBAAKCAQEAnWjdENfTzxWG7jXBLxsSYvdTxspr6LaYOz+9E54E0+bo6LVcCdis4pMrOmHxL4VaPZk9KuC6T41OY2p2atLxn7jd
            N8Equ7jk47Cp9OquHqM9iY5nfeDL1TElU/e9J4CMAk3HygMbF/7EiJsaDUl8u8ivFdTB+2gyr/L4z4qiLgGZSWRqUoJCHNOAiSFy5CKj
            WIWTQiV0jk0AUpov+OHok/cHZpWVHuHNH+IqMrdWhmMSgc6BQg6QUIQWaQal5FPmJZ9B4qEt/4ShlPH4C6JRO1yPtnwApBDHzgD4tPhJ
            rvZ9u+TiUJItzdJfld6fPq8DojeSt4QD0La/k9cIF5lTqQIDAQABAoIBAAPMslqT4LnX/6H0FYXYURhaXYD7K/smt/2xvNPo8mqWB8Tt
            2cfZqj5G39oaX237YB5qbd+BPX+qZGKO2sbN12v4uthIo9b642vulmlCMyVFesVwm0vR0Q6RAuE08r5hHAZ5nHfvHSiPxQYCIaROXY7G
            QGZ8jf+OUcjm/cputeb6QU9quuI4FzLrvZkNdA49LZaA1Bjl0Dk8MgOEycCRuzUvHK09rdBe0NG8/Ipor35jTXjrZKGKYQSsA6b+rRqO
            ZCVpVf32MfUHqUPn0isgQcdf48lLwanCHAUIdcoqCKfHXfTyr7tJ0KXANxLLO3Jouq2+7CYywd6emuaOdT40IJ0CgYEAywfiir1plcEx
            /ZLcqQPBwVvX3lVALAhmMXJepiOeMI2bxckEyncmXvurXfco1cb4ki4OD2YIAMCsDOc+BnbjNzMWCnSOwt1BxzPjY1NBwnScYoLEDAVU
            WPcu89nyauLXaodnDgwVoloa0HYgKGVaJH/+y41JGU22HAr1IQPxVGUCgYEAxnoCo01xtPDgUjaP02ayQrBd9YF3S4qVWGSdG5aTcimI
            vmYTHfihzoxlfOX8tKppYg3ZQrjqe41QbGGE5iPZzg7ViGyPmo2CEiyDsLNKr6ugLpBM13shev5TRgK9PWP1bnjlcwv6QM6xfqo1i4w/
            8QLoiZ6MoIM7r4pQLcS24/UCgYEApcpOh5Scf5k/RR2D6tASi95/rCJZQJurN315JJm5N1SrexrnOp2JS86e5SBKzCaqHFRXTuO2bUbo
            N7EsyQKUECM7QFZlrWIXsJ8Cc70s2al3eknl5RsFAZD3WlECz51k4qymzqW3lNeXRdrv74yzy1JpsbYxluQKbWPVP5yEmLECgYEAwIs4
            5+eHebt8QwV/fdxQ7vVeEX+plXU58OiaqVroa4XzjJJF1XuQrWnyQrpy72mqll9M97egcn/jF2F7pi/9ajNl39VBcvP4zVy13MPynn1n
            BgUjJp/jGQiFDJQ3tci1HpjWL0fdXOWnt3O0Qk6q8UqbAHb5gfYN/vu1UNFXg8kCgYBUp7KF3Wu2S1cbqpj9KaIzdYMXgF9ljVBRJ4Tp
            /MNdIOFInmrEwXyjukeqto8YLi+nhnapMGe1bLdDlKJEVQNptJNFPKhefBcD0kHWGSry1xYppxOC/fgKPM5wAywXasygbNBlGyJtLVP2
            fZV0fpsBgr2yS/Ih5c2MzkgTsSFoLQ==
            """
        case .receiptSigningG5:
            """
            MIIEowIBAAKCAQEAuCxN1g1KPTCXqywcmY1vaeYaqSNT2qTKyFI9KxtacEvgiY1jShJCIvgk6Lya8HXMucOtZYQMHGFJ1/QQqbViOBL1
            OdrtJVoykmNg2uePAOIlE/mXyvIUv4AbwbzNjlM6BLRWH52zxHZx6B949Gl5kzlT4OHhpBVp6L3C3qRDDPe0bZs07ktWjnPGVMQO5L2R
            54WCkW1dyNYEsY4AGc4x8B9puOpk73H1UxsmrCyhzOznYFiLDogiiPD22hPnP2PGxXwOy3MXx/sklLSTxeUxK3k72lU55F+VeRgmt0Pk
            oRzgvzo88xaxMz5EK9x+634mwRPsxxUZNlqJ3T6fGIphjwIDAQABAoIBABpAiRvGKzCLrk2CQoAKGWPRSThAxowiSfFsn4whywNkyBhz
            T0AuAsAJ+kuJJCtlxI0vfOuSe0jJqVqfTzIRnnLQaPoaiwvJo+8akUzCuFnvjPTK8r3FQfswtJl/YxbdetCphU6JDn3Q8FhJBtcNTdIU
            LYZJoaiKO4gnEbw7Un9qIAIM82b77cpMtnylMFDQqpNDs9okVgbZMgROc0MB8LsFlF0zN8Sp1ipe5ZSnLe4Htj0pIiNTKC7aBX+/irpJ
            JA+DWGwamvUeJWd326UnyP7A73wdjNU2QEYHMrSnJ1Nt1tkmjsm/fvCb0jJPYNXNicH4CYuE8D+nniftle1bAIECgYEA7/JbU8qB2pT4
            oSvawd/HKSiB3E8JEMgQLjbhA1prNlMCcfjJI1YWMT6W9TnSVptIjxiIHDZZO3sQxp/Nt9D+RG4k8+mEnq4UflWAy/AQZ/YNdFtfeN/k
            8P7PDK+aNyaXjAI8JlpFqsIAC1mhALw770Bo5xuqS+suVizc5V4Ze0ECgYEAxH6xxtoWnV+2Qvvi2lLv1KNUGHc0F6RliMsHsD22yrLM
            sMn/ab185vW7EQ7o6C+wFa7TPQCKl4b6XjMjiubXVhfQx++wCSK2jyWLetH7mrUZP/aF61OqXfyWmUDEhm4X1brKAP5/CBDCf23KLEcl
            EiVj/rGWkEHw7pjwpqgZuM8CgYBXiz4k8SK1hFq+OwjiaWn5q0zN+4wcMlIs+lrYZVnuhRTETnfcS6FnMCXVrNYAQUGU6+dlG7Msz3bM
            cSuWYEsU3nbfAxke5/aULVADmD/0HkLEbD4GFPIrt1wFjeAfNRZfv8UAXTlD1uo7OeVTJlpbrU1Y3LAiaNkMGewyR0XWwQKBgQCTrLwj
            PKieYd5y/SeC+a3xW0bKlFv8ILuGUUBX/imwsSwQ+d8RMy35zlhm+5OjXKOzyA5N3GhMdU8ZGMnvjInt1Dw+5y6fzwzxDECFb+buYIi3
            f6kqMVjrBfiQ+RI6Deev45AJqzsBbsceSf8Vw+piduNt+T208ToHt721IsUiFQKBgHOYSMeV7kZ3zsFGUMDRRxvbbNIrZLAUNK2EsCRp
            qE0RwjeUiRUbs3B7vHE2XAi/7oOnVEnzi5Fj5swbSlF7I4am0rKSi+LxhXjoNohRpp3Ju45NWgL7G+lM18RzJuXxju+3y/e1w1GvafLd
            xQrAGPS4ucdjyN1Ow+DhA4VGmaM5
            """
        case .iTunesStoreCA:
            """
            MIIEowIBAAKCAQEAvwpE8DhZBsWt3wULkQk1uoB844J+3w+byIyNm+Gf9/Iotv+pLcl1niHDGwlxhDEb17d9kt1uyk/v3T6u03D9rvWy
            DHy5gAU11qzZqW2FnN0DLVBrdVLanMSblZcQ3J0Lfdt1pE8obswLO1CF233bD90crGJGsDbaQ4off1pR37yMrILHjPJnYnM+gFZXJ9aO
            cM1q1Uq47KB+Ld0JJ1lUzhBkTAoQwLCwlUY4gnqZQy/4lBRa4Q9zLlIik6AC87ue0cYJQic0SlacArMRMOIlwGPJnYPN3ea0dXX6CayJ
            nXwzyy/QXIU0odQUAjWcMs3SMomuP7Hoow2JUzOoyGcS9wIDAQABAoIBACZociO5sGxkIejMot6t81djrbgv7EH8aV2QpIfKfNbkoLrp
            +6Fw92yrbQZqh6AEH4znHx//1N5n49mfWJa6CMa8LufDy6epZIGcjsY5drtq09CwcmpMFheej4krrgAssrrC/IvkPkTIURnDvqW6T+iI
            k9M0jvGulYMuqdZ42i0Y6mKZMDFiY7AQ2PVoKav4CDjJcZJ0elEYkKK92ySVDTEL6DS72GhzSWK5cWMaMsJyymKKlqJUNGrvzb86dfbh
            Ti9JmEI5LSKm0mQ8lO1RPW1UYkEBaI6mE/+fGBy6EAodoO6DEFFYi2TfknbcDJ6hmye57tIPgluwmeOfx1B/V4ECgYEA3nsjlFc+yqBW
            L79q0VD2aOogvsSgZwA1fC93XQNWstTUh6NIfwdoS0Kqeab86Nvw+7bP/7ignS4vlHJGeNYF5yGTEC+JIvHmsTFDBxccVVYN4mFOz8I2
            JPJGhcYmWNzufce3DZlBQZz8Hz69/YbhfQC79Liv89usxM185cX4La8CgYEA29J81W7Z5/DPoaw5uVz7a+v8NWSjO5aP96u8SlNCK7mj
            0rLvoh3G4izIbkETQhw4DgOQB5giisl+3qn46f4rv8JjofSXPbmpfD66UHm2D9w7zGVTbWXbuEfnphV5MmF5Im0W3CsUI5CFbvcZq4VB
            KkTSuhJPHv6nsVJjZFhCSTkCgYAE08sr1tDH+L6l/pNEw2r1T88yFHYehgSjEyyV2hKxgqix4Lsb9n8u0t18EkF+k/cgnxDYTZs+jdf+
            cpRQ3uP15eaY/U8OcQ0+XwFDUB8PQvS+KrpZC6+9EXyyPmBqoTCTjhfMtbySveNCkkvxClIuMivh3XgD5IpVIthI7Ai8hQKBgQCyDYCH
            8M4YDPphXfszpZkRBYi4RtfhAEeEuVo+acoDWM7Vb5KiobPip5uBkrxipDDTSRd0z0nLWQKmoM652eLd5DqHiHKo0KXzuWt4m91YY28c
            VEaLKiIa1kNQR7xvjnxr4ijOFSau1/T8uLHWOI1cC3sUtJfZ5zM1ciKHuOWYIQKBgEi34LHBIW24jMBU1fyUGhl0F6EkK3fUZlh91Dhc
            PeKlf2YIcpc2s2CAj3jzzH0BoL8F7yxSZJ1d+nSV9Yg5UHnr9K74LXXbvtTZBUugNRHR3yJtmZAF0QbRqodDQWaz8KlQdEo0f6dJAMPG
            UgJD8HEqXfQuVS16wZV/9x6/2Aew
            """
        case .developer:
            """
            MIIEpQIBAAKCAQEA0cZBBuMAQIe29p0Uc1RzWXVQFGJFpw/1S1qlVBDp3gC+1ERMzAfeP9J6Z5SHc4lpOYVou0nTDFZq5N9FGjOSBMIt
            PdXwmmm5TGl8jdBh/03396ZtbfYZW9CJoa4SD2lLeePnGM5HVHW2EjPC0cw2mz8UefVhUraWFZfmNayU2cPjajFe1LS/rxMLQzMSn6T2
            R9ghek2mzUn7nijnHdaj4s0/8PxRQexs7qdSVZmLyzrFw7OcTSDOjKueOvDww9rNRzjF+ePJT2zs0Exj/peOCKhxlAKef9PL96Ihjw6j
            bwZy8Rqf5vvliHVjIU5dYq2WsjKYVxNKQD4zooBKVz8AwwIDAQABAoIBACYedZCPzWrsfnXf42h1ryRRagTaOrf58WQJC8Pz8ttxnTur
            UZ09zMgiMjYCSn7XOHTIZliqOJykU3ZVkBQLzPvqYRg8eSVGEvLstEJ83GHtRCMPbhEuSDtj8K6dmBCO3LVAkazzRwj0/und2AgRqNab
            Jthmm5HRNgKkgKO+Qao0VvrvIScBPXsOPLXL2xtO5Y1qxXOUo8+zD0Mwi2y9Suvc8+d3jYpHt9ZPN4o7qvoj9LspDTRycr/pSahyGMii
            RleA60D5APJiJloN/sj0SBHF9oE0kXmWF1bWll18U9kUX0wbDWP6QjtKykP+aH9aBIDiS0n1yPkteTT9CAyH1LECgYEA+WunLPsu8ppd
            6d6OL1yukPMs66C1t5PPE2cx9g0hmeggbEPNfWMGnf4txQoVgtkNHJbPK4fbTlGBI4zGfVLCihpw9Xfoc39++6O3h/akj/dgkpW/cYmF
            CABwIqLs9l/lrrgkrJl4Ud9Vzlb4Gn+xQcovcwg3+KVy8kfHGRs12/sCgYEA107ei2aNP/j2OfZ2kLDJiTOOtYJb/oXLf2omzQKBEW9h
            qL1Amt2wNycuje4hk8CF8vhGIjDTPlvL7RFw9DtwSlwGHbmWWNs8BcNkdALlaAAVPb7Yu4tJZJv85TuRMR+367N1/lRr/aW0eXOgsUwM
            eoFqIYpr55XiGP7tywdfS9kCgYEA3TRPqMIAqiKjxcWe3nxZSa6RmUwHvY82aOPt2GVe9ot7LemYNmr7tGV4HDdMSqbLTR6nD9lGc5gv
            auLwKreaVzcKFXnJy504dl6FZ+0jl5byrC5pAn3PYQBacy2B8SOtpR4lUHovzpS/Gefh1EaJY2q4WFHiqf+6CQwFlMugIb8CgYEAkyec
            gro8oBSQdV01+/5YQCW0y+mk5nibdSIgEs47WKc/oAx5M1+BKLDm6Kpw2IMlCcMWbBfiySQEZKsfAE3/mVL7+yT01RZCF85Lwd6Y3FPy
            MJlXmBbCurjCSApGWcTL95RYeNNKW7n9d2TH12Wawb/hwbrRtR6DwYG7FKCdSUECgYEAtiEL1yD0MIfZ5TSKLXnUoR2soffJBfKU7Znw
            PMIzOmftDIx4UvW12Wrcvqu6hX+PtfpQO5z8UOxIG86dfInoM3qmSGYhjM4rzzugkxSPdGQOhtrfpPdHcS0Rg+YuIpTGcrHP+AB046sA
            USb78jskWOThSy/6I7YYAPib+M84374=
            """
        case .xcode:
            """
            MIIEowIBAAKCAQEAp59mXqhHjtyrRwM9Axk+6l9qdNpAO7Fk9Um0PajRYfWVALF47yGk/5jlF6A4kqHfdpC7GHV6WX7t47iNgAyrVlP8
            m6gcuwT3ErVCL0CgIv7QtprhHyeOaVunGpW1RlkO/h/wwuh5MERCT23VeOqr8/dReIt//9tWU2dO/OBpkW2tw/eiHRWC14Uhg7ABAip6
            BccPceV80wO0+VyKmmo3Ikoa59hfLAQxu57aL8c2kwZZS4etsIhR+1kYRa9Wapr6Jog9wjFM8WsrP9YASNaOkalfeIz/pGq4iQv8r/mZ
            5Pq2F/x0MEITmcpa8ea2bQXI6ye+hj/wgDT03dqeEh0X9QIDAQABAoIBAAChw3n5UW0SuOLLCNUDNr1yqoXneA324tfSipWRlmgI9rBV
            Qgy6gSEeNESpXZKQYYrGRQK7wqPQgbxLFaUG/IhdR3c5pC4V3FE/IDwGJRDXX6BhfMD9s3YDN0VwN9EcrysP923FjumeR13v16ur2s0X
            JBY0oqSAxlZeQ2LoxBtV9OM6dVAOyx74K6gz+s9uqoYXJ1wGdBMTYEa6EXOMJ2setbIU+o3gbeGeMFmZkN4Zq6wSBwkChnhENTtXnB2E
            qUxrOqOD+m3+vw8ZnVOV2bdXEQMwvzjjXcU3DU9gaPWgyVk35v2w4B51UsXN3CNZaB/CtKsaqs2Ua+mZI0ZjrAECgYEA4f8sb9MYLU2H
            7OLVcZG7f/C3rGWBHrXYkmGC91tkTkaJyN0JLsYd5O3o6+Dk9iwdD+kgfjjyXVBzz5cfgIpQF+3G/GPuaOpwJOS48JjAgqshMCwwLKb5
            qgKi0EG33LlbX81Gx2jxTswJteO9l8riEhADscKrxOzx9TiWN3hzbfUCgYEAveBMOAdyhx6c0puWrNT4QwqhFUNGRZ4rZ1YnkP8SfpgI
            7kOtbcyO/dSagTUfmBOwA10SoBY8LCXKHTl2UduSvo/wsDgH4kUzYmRRLYfWEKdgRV46M61ycmB8UTt8Kp+Jmd7MtwtEiAM8AGWj2saI
            bStzRyk9VyCzfgrDWiM+wgECgYBSb+RjvhrZm6hzbqLxVHmSx9oYFsaszyR68Pr3A+1o6C4miQpqd3Y8JdSLBnQ+oATR4vYpVNiD1W8J
            UFT7bHie4ett8X3r42iY7J3RlcbTY10t11CTWS1FKMT/Npm8+BgusBCbeNpdJex83uAv2J/yesj+NMa3hL8V9lhFT7i7aQKBgQCPTNmZ
            K5229laa6EvmMnEPf9Uki/pcDkxpl+8Skj8uBaYv1CnuhQSh8zOMMkCe8LTVRQgKg91z4C1SswxmKRXt9gpLpG3myh1Gs7lEaJEZTojs
            sXmxiMSoJ8OLNx61uGQMGcdcmgdlszM0hYENWuqZocJFwY0G1apBhPP8cj8qAQKBgHgtYAMi1m2cr18nmIVjgn3bmedYizBE5FG7jBD7
            ima1gemlpV6MS1Qnn65fWPAX5ZCYwN0D6QjXGW0pXE5nFISyWH+TQT6iA3nwvPF2OgviHyrnoJOajUbXk/+79MTrgWoKgpiDGmGTNMHq
            lBkKmllM8l5EcOIO/sE+AUe/GvLP
            """
        case .foreignRootCA:
            """
            MIIEowIBAAKCAQEA8VVBxefxStP5bdb//5vYlZu0opdTzG5gm7BO+t1ifd3Lq5Z7nS89xCEUTZSYzzaQPTPwA8yrqh2cxV/fxf5jxS6H
            s0GvLUi/kxXovJIFpT1XLljvdtp3DTi5lALOH2ue6apbYJdHnisgTtUNgftO0Zx5NiV63K9JwJk+HyJRlS6sHtzvDSf2j19OlKL6sZlR
            1p5bGd6wtRQuDHZdf0XX0lTGcfWXNk4u5f8moaWTukxW6iyCDE0v4/btzNcMZfZHH6nipW6JgnToTejGDwpr3jwOGQR4q7zkMSAy8jYq
            BhlAuEzFlQ11flpEA8WZCoI5vwM4xwBNfaTVp8BPtHQPYwIDAQABAoIBADpHDlUOR7R8L9WYf8VoCwtFyH8i7/eECAxQrSHjaC9g6hgL
            hNpWWCIOouqBIc2YLYi6DBG+0Q2JjRwUpOMZJVque9KL4BOdZ7XLKqKu2HIot+7XRyx6YRluQ1I8wy3PPVbL7rkKjx7g5zJiPJrQ5x2z
            HYo3zs2P/s1ltBysmurdHGCYSkATzwpx0PkctE6PsmpwVqpzoqUAtiYMzC6WsAxIb9SZRRHobmBCo380JfGTV3up4wEz25BAfY37Okle
            KsXyjftHP6Vywt3MiTsDXjK7KTr6B/72vMpNNWmjgEPP6nNkDy84RLEA5yN/sKYKFoDV47b4G8Sxyh3quwZgY+ECgYEA/AO+wDfTS+o8
            VuySK53Hr7lh4DjplBKmkxZIHdA7KqgQv/Zmhr5zJzMxMtX3O0Zip0HcunAGnRneZENKEGv5ZboCNswAy2BtOwNljxyceeFP6UGNo/5R
            GvuKelVIUNJL6AWRFCefN8DcavQJgTB2wHfpBLuwriJFHER/LEIVPtsCgYEA9SZEu47Ng9GbQst2uf7zrxXIexeo10MIdHNd7n2YE3Ik
            xYkpQiyEKSvhh3Owl3I9+ldxOIAuKvA0luQXQGxgZHPWABBXmV63JewFxRuzYpIbaRoOYiLIFvdfT1va0776DW07sy+lwiK6HfbgCJ5P
            ujFjTzz5VAdlTtNW/jlohBkCgYA+W07fkPCfYB3+BBtG34uBV4V4TZy+Hr9ItcKyXcvGCj/av8UuogEsOeZ6habe69ONPya2mvGH/dah
            SGUTGyRin1vc4y1vJTTh3T1L4/Bz1+RF+wppAYxf+M2S53c1SFOv3XDAY+1phjcD385aQPuhNApcOXTGIYSoMeqlsNRA8QKBgQDgX8FC
            5SYGwz7WuMCW5dmFY2uV9gar1weTBdBwKvWYvr0XKz3e+j2QLUCDKAj15DMDwSq4auFWnXmUrXj2lvr2lerFLi/vCPiaNdbmHD9oNY/u
            91E40trN4mWSjeDQMxhMV7DvhOmysPQl3sIYQUV5hiB98rHFDevUZKxXjJWzaQKBgGzQoyGV7ooYmsZwXdnCHvPjpvMOy0Da/YriMtkK
            xpu0nAbzGkkJS8GNs8sWf4bT4bp2he2ymduf3hNyHc9eJkFTycF3YPFfl7QqIgght42fBXMYfVu7XcErHjM80nzht1I+Lv/s9AdxJ3Oz
            POhdmWFFRmXrrtumDZHW/gTfcuNY
            """
        case .foreignIntermediate:
            """
            MIIEogIBAAKCAQEAiQcv9j6TF3trbs7g/RZgEmNPvVjWZRn6DCNdZuT73TG4nxiU+KplXEGxBNTV20d75VXUB9r6+8zTWTJkZ2yfzt7o
            ysbv+gEI3Y9KIcTzb9S4anzsaeK6aMO9XeaJQ/CYT/6UnWma+39Arxs+8/16JCNna4H95qpcKUchMgenvcsoqkPxhVjtXkBVXfpQgPgn
            glQn4CG3Z/wUrL6m2cm12a1d9HYe8iJxkCLfI/LCs1cuMMkerrYJHcoraemlshc0gEwt6JItJll7plh232AiAnLY4JLvx3WxUI2KLEA6
            fn43mM1ONnPSG1IL/D1Qo0X/TDHYfVhydzDWf/Wjd9woowIDAQABAoIBAAqeTnaoAbD7pOcYy/GAxuAV5wt2s2JxQWGoaef7zZKl9DcL
            6htc5O7hvkxwC8RqxSyP2pbjPri9dhE+6O3kynt25ZY1FUqLwvqcTHPSdcTQOJwz4wQPiD9vD6ETqMZlggAM68pI8TQU99e55kZ0+X6M
            acq4b4rs36hpNSbR1gtMcmncju+1jILN3Cj5xCFgydNQkPQxEhRk4MiZlRDsEkwWNkLMOcdOEq+BowM7zhf0QH4wBY+No3HCCJ17cSZb
            4QbTo5CaCHzGwxdPfV0xO/dqz88yE7FHRRI86ofh7hfxESavouf2Ljurfzf0mq8VFbCf7smu35ODwz/1Z62++AkCgYEAviYolxffMBWb
            GALsWBct1WpJZRD0Z7cfGkrVgeaeWU5Ei9A8NJ6fF3JAHFPu7aW1zpWeTHHYjvZnQJCEAGw9iF3z1vp88EQjZhT9RXSvI8JFSFuKRwAA
            H+7rlyq1T/vA/1TOEr4OCH0QZsJ35Bf7BJJTJ/6Fg78AiRs91CUklksCgYEAuHuJ70VM9ykFRROUM/0p9fEbW2iEyB5nNvMRqhqbbxZC
            as2s5Lq0+tC4HUb9CSmj3xE5M0uzT3z7NUbUyjUJneIkMoXbt5Z1tOFmpvXdUcuYF3aMDg6pzHwsYgQQpre14XMDgyvsZNVxNicajpxk
            n6cCyVDX3AYHFHiSOSxsoAkCgYAkCc1lnZOiZGXprhwnMfVw3l0ct5Lq2U0eyZIftZrLaEcbjJLskieq5O97rvi4t9B2X+sJqAYYSmEV
            Xo52Gg2re8sMMptdWjyvS0kZUd0j1N0WsqrJfBmJ89lY5DJK/3b7rZIFAVpdh36FS1Q3ucfMfQMfsGCTsK6kTbJxM7z0cwKBgB08ZsWm
            g+X/eDhUO/5pNoclaKJ50+ErAExzBO+iO9PFAU2PvsCY3imJfkQVhfA3yyKExj3c11PXiLAOw5YwBZAh0H65O/LCQ3Eg73WyLRrTWw0M
            2nE33azsWNRHtKPXJVnPMlVNVq88LC7az5ieLEwo2YYx66OQyPpziSjKY4SRAoGATItsMYuH6i75FljuF99ah57g6evW/Ce5c5mM3YQU
            W/i9sLtLhsTTNLAhI2bSRZVy5Sl3HxtpnCkGeSfInvA9iK5VzE+SGZ7AAA33L8wO3m//9Pato68V/uVd+unlD4wtLoPKwQCgrzckUyHA
            VEDz+xfKT+zB5dHMmBRHeNkKi3U=
            """
        case .foreignLeaf:
            """
            MIIEpAIBAAKCAQEAvVVjQHYOASQsP9X/1m/5KcQJrTtBuD0j+dNpw3+M3ar/GNFmVcI0EETDCvKAQYfirzquRVEpMu5emzxMQggYn6KQ
            BAclafGfaMEFZp7tfP1PJkD8MpGPZHqKvjVLNv14WFug5Tio13lRStvLq33rQF0ZaNj25xNdE6wuNhuYUH6DL//seyGAKIInUY7jX6hr
            Y8Re+ER2b4soXq5UpVr9QCUmyif560MtGCIefHlcBiI0bbvqmCjxX0l/z9n+YhCGJV049z59cC8BiEUhdoiqc+d45psLKdaq+S/FRLgy
            ii4t9mBJfMUKaC93P4vAj28vMNB1mPnTVxeb6o7swu6F9wIDAQABAoIBAC+kS9xNmIqK+qN5iu3/sRfkX3b6wTfGEsZrf2KVNvIUdCpf
            jrunqYgqdVXM3Z8fvVfQkUeZ+574QlAXpSy8cs3AjzKkRbLZ/P3UDDLdbO8VopQCqDNlU0q6Vy0zpeCJeX3qWJs1Xa8StPT8R8y4W7kP
            dDRg3AgbZEFuAxbUbMhcDdJXD7YUPporO9ka7F+uT9qZ4TN/VrBDQ6hTnsvH4mHZVW96xGdm8SLfM9EWG4FMelkG0bnOdbkk+cmxoXPv
            lTAW27dhkbkLI/g+1Ox/aG02wH3dwUsBQ3OHjXA0Iwt53yo1Wud6tbYlIoP3hzK/WkUpeT4R5W/gzCRQygnY9rECgYEA9kJ27GDHbeAP
            Yyvhz3cfe/d3hFyarw4uKR5Pn6Uf23k3QfHPR3FTpVs9MbXukORX6mCnCxtNZewa+mzfD/mjcUP1o5YdUuQlubAD2FfPuRjkSLyrsBc/
            0BHBqSlxij+ZD/NIIcMNbf26naP+wJaxKseJttmT5ceKIkC5WoY8Kq8CgYEAxNKCpoOSVX5tLWxP5cc92s8ct+A4/zGk9z9jPO9cnSW8
            hj8/2H2z2V0rm9iwwUyaxuZU/UiKRTYxsFx0KyCk8vtj9DmaG+4GAUS0w2EAzYRxNWa0xGN5ZlMp+iUIC/l5Dlzv3qCXKeZ+F4Oky4dR
            cdw7k80Glu1Lz14YePhkizkCgYEAyJUokq7dogR/5BJJMphf37SY+AoJwI63UKysxGdWRIk+Vgtk/1cyf5yKgqQitogXiAPD7AsIBv3C
            l7n4EuYOl+J4AQ/zwKGujMnux9f2jVjWEN0Ep0C4rHzaFjR4k9frj49kcIOUu8OQrnh2t13G3wZ6iKI+kknunKnFkBOIjGcCgYEAvySp
            WUjhrkGPidNsbHxoZ71H6JLLB5qQ2MUofR8AVGU3hzCZsoexR+Eh3sI8Nh1NGujJlQkDr1+INfwznUagqpDVa3MdZQ5tqoGtAymLfAup
            XfEWkLsCRQty8slP3UEz/WzoTs6qvzhnMDLasgYCZI87FLjCM4TUYNjC74hbLJECgYADBtnCIuXzB6/9Hst8RxJ0gz1HcElqGJvg/bXo
            f9+zmi9FEgUNSWZZafGd0HHy4ZsuS9El5aL2vr8Ue40MdBHXGRA4eak80akrU7W6iTpQLEhk8GkjFsiQgOlJ6gxqThk729dRIMTMdMgq
            5sqOZe7na/NqFe0/DFhQBCE7OE4tJA==
            """
        case .purchaseReceipt:
            """
            MIICXQIBAAKBgQC603wRxGizrZ+xWHh26U2LTHa37CiaqmSdUvGTT+T53ZC83qxqDs1PQQhG2b9XwI9Xyq71Eb9fty2jMmneGGIHJTLk
            K6KH4d7wpmStA9uMmKyB2fQt1/AR/wxqvlhNPhJo+teuY/BCt0IkZGSiVC074Xp6t4Gs9V68Bjr1w3cqWQIDAQABAoGBALan0aNlTaBt
            3bV787r+eiv4xBEpuMEOWnReBYWrFQkdkEa3xgWjFyOnRzpN5X8b6olAxjEf+uTPqLTnsw3K9PqtdetMp6ADeIw9tm24d1q+eOVLcxlx
            z73C7eNzkOGWS4NnPcJ0o5xLDdFs1bvKm0GCUiNeUjxXuIadzYIryQkBAkEA8rF4GEbM6R8EOtK2vfulx5PUeE7/xNIsxSfszxhCQRa+
            4cOokLF7kpG/jJ49H2maFoWcpj4GfuHAsgJzozXqUQJBAMUR2Bm1EHwC/bomDI48Efm/MI5ujz8mLPDHSsu+8pRpXOFWh/P/xFwg5Ngh
            Q4YQ5Oq4oFhPyyYKsEU80L/6NYkCQBV3lzzmfleck740R0/Uw5w8uk2OB1e8k5M47dx/s9SYE3ha2z05Rcn4NG5WzOdLawLU/L9Du0Vb
            6LSWPO5R5ZECQFAGd/+wdDo3qLsPumeD4zTMu7YLFWZqZTN9alUkfDNiOdJTpi+iPCXBQcy2bUoi0CK0yIA0HuWaz4u+L3LV8ykCQQCk
            MKN1JAnfRgItqEd5ZXTI2h0eomvq+CBWS2zUVHWWctqDiEpMGYbhIaQd9XL2WbS6x/FFBd5irNCpf6+YpGX3
            """
        case .foreignPurchaseReceipt:
            """
            MIICXQIBAAKBgQDTECb0lzgz3CfRc/8VDjPwJh2ygbEkF0B3sNurF5wYrzUqrKJa3NwOFDCEX4pdLiWpQ4+H5xVHazAFR8jcn+pE2Yq+
            aFpGpyhWJNIbrXOoQGCIZF0+KqUICZrBZ0zryaSVyk9037xYzWpLnIcYniQNLTmsdCo86iyk66iUOl19qwIDAQABAoGBAMKaX/ChBRb7
            5FLAyu6U+9puqm8OGVAXiD9TeBbWW/x+f1zrc36nqNXqU5mZpa+oft0EB/DcZchF0i7sMw0I/SvzxcRHAMM5xAcVOYBlb7fmknzwM6G1
            zxEvPgzw1UcVyNp5+UxQYO0/WMIBKQIpPUkdNJS0rKN6RymVCLp4rKiBAkEA/biDEhPlpXiUo8IlzjNuUnTGtYniTC/FpuqJkHzEYhRG
            dyD9fkdLB7BxEudI77o84e6C9gBVzKk364xsAnzLSwJBANT1ig7Zohy6RHone8uKsydiZDziaoNTZXRkXZEAbzXPOwUK+JKSK1ExxM3j
            acGmWDF6JW3Jrkglzmg+dWcnOyECQQC/zCmZEt15FwwWNv/pPsvZHVnRhihBu6NIqOfRB+BU3ErgZ1n5id9YMrNnvNtQDZNUn770RBCY
            JBuXvpEv2DK9AkAvgPIh6+QgmmBKC2Ku/aqG/4iymCMAVmsMMpM4lCs6ipZ0woS+VUK6YuqurqrZmpyTtNaCjfmFeIF5eW1A7FxhAkBN
            PU6eFcdaXaYQBY3YMjLXEHTqHjGiQFs69TsCzwERS7l6CDI3grDECywAcbtZX3eFJQRcs71D6hXMC1C88jIG
            """
        case .signedDataRootCA:
            """
            MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDCeyVENLZhsBUt2+tFLC7OwxKzkl+ceH5p0SU2eG5j1vkOkPJw+Wz5bQHnv
            P16V/+yhZANiAASta6sgcIMgdKbU1i0La66xkjb4JVmJWPUyvkRbaI7uDBAGL2mLiGcXvBlvSvZYGMdIEnBaO3G1tv7R+fg7oFg0GfrR
            u2e+a61c2IXZCJKcN14zvphMaWb1FyqXLqFFel4=
            """
        case .signedDataIntermediate:
            """
            MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDDIjJzv5nB2ILGolMH28KDfPPcW23U8UgBCNT3jXVK6pIyYnW76UPKs7V9/
            slcUn8qhZANiAATEtg7QPjdllOqEIFm2kImeRXMr70merVUftqdsR3/1XcAvSV3KgjwJFhxPTbwIg+QtmuK3qdrPBigIdYJWGnSaHXtv
            VjgK0iEmlkaYOwkRWjyO45cJh+2rD7RPMsiIIlA=
            """
        case .signedDataLeaf:
            """
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQghxalyYPeQKXtdhRgWzuTKTO6L7FSPhPhPD8d7A7D5WOhRANCAASQTQBu
            s85Y2o+KbZQbz590iMaC47GAay9EhJTyO5/Oio4sf4Kyw3OshpEhZj18xuJUIMBoG8qX+i0qC7MLxumy
            """
        case .signedDataDeveloper:
            """
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgxOIyOZdL+VRPoZ/yX4ufpTRdz4ajS16STBefweMUDFyhRANCAATvakTK
            U9I+ukLdsw2ZuvrB7losY4i06unmFCrVeS6T2sIZ3vD+dQGx5GjJGJ95MK8JDg3eCQMPUQlkmmjo4Hlh
            """
        case .signedDataXcode:
            """
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgEWsqm0ObkRH3PhZ78fBC1WqlW/LJkZStb4Y7C8svuEKhRANCAASBU0t0
            MErT2ux0KyUsU04RzSDU/5sSmBJIG8lUACYTpWuabvxtNp/DJ+2Cnuuocjo51UsSxRH3IfIUGGWvhs5R
            """
        case .signedDataResponder:
            """
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgB1LrG1L4jnzPf+jyVWBu6eL8ZQ/WUdrLoPqHbDRe3tyhRANCAAT5DWSp
            eYclHp0cYELNuz4GwWvMl17hfa84CthklQts2VG9DiJFMrnxD4l13ljLzO+RRcCfs6BodM30r4ts9yu2
            """
        case .foreignSignedDataRootCA:
            """
            MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDBRlmq6UukaTqCN7WdvVV3a2pBvq2NX5jYBUzqHLtw1I7GYMjbwdqwUK4Up
            DE6UMxWhZANiAAT+fX6WtkkoKBBij/Ux5qJECvPlNippaMyZXtnxbH7C2LhVPPzjlXrUBwIT7B6LFV8uOg1Iq+54C3G/B2vzTniLER0L
            zpQE4SQuzs/1XdZXViVcbwUT1zL+053jpNovc0U=
            """
        case .foreignSignedDataIntermediate:
            """
            MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDDJ9S06E30JjoSXIYiPcJ1lKAHOzLxpc/TBVsUlT0VX/qGwr3XbgNiykU9a
            3xV+G5yhZANiAAR+w4p9SuB9a7+NCAjIzXV5AxyJwZnjqAYoGxB94W1os8qnbS+AvHEaznQChOEXv74qXdvA/p99zWVLpvqyhCChmdVb
            BmvrpcAsguiALdyrsxnTeLx0Xv2yvMHH5KGoCWo=
            """
        case .foreignSignedDataLeaf:
            """
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgkmN9Auak4fodEjFxobHJwNmCXP/rtz3zCkBbLhfdP/WhRANCAAShMASa
            O6lry43zwMPbTzj0/GMs4mu7VS0RzxmI/aC7aG0gxGtSLyISeco3+oA3mX4XwSdRgbAykPsByOqUBphF
            """
        }
    }
}
