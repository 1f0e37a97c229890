import Foundation
import ReceiptForge
import TestSupport
import VerifyReceiptServer

enum TestRoot {
    static let der: [UInt8] = (try? TestCertificateAuthority.rootDER) ?? []
}

/// A certificate for `localhost` in a folder of its own, made by `openssl`.
final class TestCertificate: Sendable {
    let tls: VerifyReceiptServerConfiguration.TLSFiles
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        tls = .init(certificate: folder.path + "/certificate.pem", privateKey: folder.path + "/key.pem")
        let arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
            tls.privateKey, "-out", tls.certificate, "-days", "30", "-subj", "/CN=localhost", "-addext",
            "subjectAltName=DNS:localhost",
        ]
        let outcome = try ChildProcess.runWhileBlocking("openssl", arguments)
        guard outcome.status == 0 else { throw TestFailure("openssl made no certificate: \(outcome.errors)") }
    }

    /// Puts the own files where the others are.
    func copy(over other: TestCertificate) throws {
        for (from, to) in [(tls.certificate, other.tls.certificate), (tls.privateKey, other.tls.privateKey)] {
            let data = try Data(contentsOf: URL(fileURLWithPath: from))
            try data.write(to: URL(fileURLWithPath: to))
        }
    }
}

/// Carries a value from one thread to the next, which never use it at the same time.
struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
