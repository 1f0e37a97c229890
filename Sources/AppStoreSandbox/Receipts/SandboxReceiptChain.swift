internal import ReceiptForge

/// The certificates that sign the sandbox's legacy receipts, under the root of the test authority.
///
/// The authority's own leaves end when Apple's did. This one lasts as long as its intermediate, to 2030-12-10: receipts that
/// a clock put beyond that date has made are not genuine.
enum SandboxReceiptChain {
    /// Leaf, intermediate, root.
    static func certificates() throws -> [ForgedCertificate] { try result.get() }

    private static let result = Result {
        let authority = try TestCertificateAuthority.shared()
        let intermediate = try authority.intermediate(.g5)
        let leaf = TestCertificateAuthority.leafDescription(.g5).with {
            $0.serial = [0x7E, 0x57, 0x5A, 0x4D, 0xB0, 0x7E, 0x01]
            $0.notAfter = ForgedInstant(2030, 12, 10)
        }
        return [try leaf.issued(by: intermediate), intermediate, authority.root]
    }
}
