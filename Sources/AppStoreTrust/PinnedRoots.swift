/// Roots that are trusted by fingerprint, without a certificate file. The signed data contains the certificate.
public enum PinnedRoots {
    /// SHA-256 of Apple Root CA, Apple Root CA - G2 and Apple Root CA - G3 (Reference.md V7.1 and S4).
    public static let apple: Set<Fingerprint> = [
        Fingerprint(0xB0B1_730E_CBC7_FF45, 0x0514_2C49_F129_5E6E, 0xDA6B_CAED_7E2C_68C5, 0xBE91_B5A1_1001_F024),
        Fingerprint(0xC2B9_B042_DD57_830E, 0x7D11_7DAC_55AC_8AE1, 0x9407_D38E_41D8_8F32, 0x15BC_3A89_0444_A050),
        Fingerprint(0x6334_3ABF_B89A_6A03, 0xEBB5_7E9B_3F5F_A7BE, 0x7C4F_5C75_6F30_17B3, 0xA8C4_88C3_653E_9179),
    ]
}
