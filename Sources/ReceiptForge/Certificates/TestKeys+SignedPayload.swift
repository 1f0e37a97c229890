// TEST KEYS: see TestKey.swift. Public, of no value, trusted by nobody.

/// The keys of signed data, PKCS#8.
extension TestKey {
    static let signedDataRootCAPEM = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDCeyVENLZhsBUt2+tFL
        C7OwxKzkl+ceH5p0SU2eG5j1vkOkPJw+Wz5bQHnvP16V/+yhZANiAASta6sgcIMg
        dKbU1i0La66xkjb4JVmJWPUyvkRbaI7uDBAGL2mLiGcXvBlvSvZYGMdIEnBaO3G1
        tv7R+fg7oFg0GfrRu2e+a61c2IXZCJKcN14zvphMaWb1FyqXLqFFel4=
        -----END PRIVATE KEY-----
        """

    static let signedDataIntermediatePEM = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDDIjJzv5nB2ILGolMH2
        8KDfPPcW23U8UgBCNT3jXVK6pIyYnW76UPKs7V9/slcUn8qhZANiAATEtg7QPjdl
        lOqEIFm2kImeRXMr70merVUftqdsR3/1XcAvSV3KgjwJFhxPTbwIg+QtmuK3qdrP
        BigIdYJWGnSaHXtvVjgK0iEmlkaYOwkRWjyO45cJh+2rD7RPMsiIIlA=
        -----END PRIVATE KEY-----
        """

    static let signedDataLeafPEM = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQghxalyYPeQKXtdhRg
        WzuTKTO6L7FSPhPhPD8d7A7D5WOhRANCAASQTQBus85Y2o+KbZQbz590iMaC47GA
        ay9EhJTyO5/Oio4sf4Kyw3OshpEhZj18xuJUIMBoG8qX+i0qC7MLxumy
        -----END PRIVATE KEY-----
        """

    static let signedDataDeveloperPEM = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgxOIyOZdL+VRPoZ/y
        X4ufpTRdz4ajS16STBefweMUDFyhRANCAATvakTKU9I+ukLdsw2ZuvrB7losY4i0
        6unmFCrVeS6T2sIZ3vD+dQGx5GjJGJ95MK8JDg3eCQMPUQlkmmjo4Hlh
        -----END PRIVATE KEY-----
        """

    static let signedDataXcodePEM = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgEWsqm0ObkRH3PhZ7
        8fBC1WqlW/LJkZStb4Y7C8svuEKhRANCAASBU0t0MErT2ux0KyUsU04RzSDU/5sS
        mBJIG8lUACYTpWuabvxtNp/DJ+2Cnuuocjo51UsSxRH3IfIUGGWvhs5R
        -----END PRIVATE KEY-----
        """

    static let signedDataResponderPEM = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgB1LrG1L4jnzPf+jy
        VWBu6eL8ZQ/WUdrLoPqHbDRe3tyhRANCAAT5DWSpeYclHp0cYELNuz4GwWvMl17h
        fa84CthklQts2VG9DiJFMrnxD4l13ljLzO+RRcCfs6BodM30r4ts9yu2
        -----END PRIVATE KEY-----
        """

    static let foreignSignedDataRootCAPEM = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDBRlmq6UukaTqCN7Wdv
        VV3a2pBvq2NX5jYBUzqHLtw1I7GYMjbwdqwUK4UpDE6UMxWhZANiAAT+fX6Wtkko
        KBBij/Ux5qJECvPlNippaMyZXtnxbH7C2LhVPPzjlXrUBwIT7B6LFV8uOg1Iq+54
        C3G/B2vzTniLER0LzpQE4SQuzs/1XdZXViVcbwUT1zL+053jpNovc0U=
        -----END PRIVATE KEY-----
        """

    static let foreignSignedDataIntermediatePEM = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDDJ9S06E30JjoSXIYiP
        cJ1lKAHOzLxpc/TBVsUlT0VX/qGwr3XbgNiykU9a3xV+G5yhZANiAAR+w4p9SuB9
        a7+NCAjIzXV5AxyJwZnjqAYoGxB94W1os8qnbS+AvHEaznQChOEXv74qXdvA/p99
        zWVLpvqyhCChmdVbBmvrpcAsguiALdyrsxnTeLx0Xv2yvMHH5KGoCWo=
        -----END PRIVATE KEY-----
        """

    static let foreignSignedDataLeafPEM = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgkmN9Auak4fodEjFx
        obHJwNmCXP/rtz3zCkBbLhfdP/WhRANCAAShMASaO6lry43zwMPbTzj0/GMs4mu7
        VS0RzxmI/aC7aG0gxGtSLyISeco3+oA3mX4XwSdRgbAykPsByOqUBphF
        -----END PRIVATE KEY-----
        """
}
