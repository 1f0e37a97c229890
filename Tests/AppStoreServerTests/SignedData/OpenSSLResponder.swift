import AppStoreServer
import Foundation
import ReceiptForge
import Synchronization
import TestSupport

/// `openssl ocsp` as the responder of both of the test authority's issuers.
final class OpenSSLResponder: APITransport {
    enum Status: String {
        case good = "V"
        case revoked = "R"
        case unknown
    }

    enum Signer: Hashable {
        case issuer
        case delegate
        case delegateWithoutUsage
        case foreign
    }

    static let path = ["/usr/bin/openssl", "/usr/local/bin/openssl", "/opt/homebrew/bin/openssl"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    private let folder: TemporaryFolder
    private let asked = Mutex<[String]>([])

    /// The queried URIs, in order.
    var requests: [String] { asked.withLock { $0 } }

    init(leaf: Status = .good, intermediate: Status = .good, signer: Signer = .issuer) throws {
        folder = try TemporaryFolder()
        let authority = try Self.authority
        try folder.write("root.pem", Self.pem(authority.root))
        try folder.write("intermediate.pem", Self.pem(authority.intermediate))
        try folder.write("leaf.index", Self.line(leaf, authority.leaf))
        try folder.write("root.index", Self.line(intermediate, authority.intermediate))
        for (name, issuer) in [("leaf", authority.intermediate), ("root", authority.root)] {
            let (certificate, key) = try Self.signer(signer, issuer)
            try folder.write("\(name).signer.pem", Self.pem(certificate))
            try folder.write("\(name).key.pem", key.privateKeyPEM)
        }
    }

    /// An authority whose leaf and intermediate name these responders.
    static var authority: TestSignedDataAuthority {
        get throws { try authorityResult.get() }
    }

    private static let authorityResult = Result {
        try TestSignedDataAuthority.issued { leaf, intermediate, _ in
            leaf.ocspResponder = "http://leaf.test/ocsp"
            intermediate.ocspResponder = "http://root.test/ocsp"
        }
    }

    private static func signer(
        _ signer: Signer, _ issuer: ForgedCertificate
    ) throws -> (ForgedCertificate, TestKey) {
        let description = TestSignedDataAuthority.responderDescription
        switch signer {
        case .issuer: return (issuer, issuer.key)
        case .delegate: return (try description.issued(by: issuer), description.key)
        case .delegateWithoutUsage:
            return (try description.with { $0.extendedKeyUsage = [] }.issued(by: issuer), description.key)
        case .foreign:
            let foreign = try TestSignedDataAuthority.foreign(impostor: true).intermediate
            return (try description.issued(by: foreign), description.key)
        }
    }

    /// A line of the index of `openssl ca`.
    private static func line(_ status: Status, _ certificate: ForgedCertificate) -> String {
        let serial = certificate.serial.map { String(format: "%02X", $0) }.joined()
        switch status {
        case .good: return "V\t360318000000Z\t\t\(serial)\tunknown\t/CN=Test\n"
        case .revoked: return "R\t360318000000Z\t250101000000Z,keyCompromise\t\(serial)\tunknown\t/CN=Test\n"
        case .unknown: return "V\t360318000000Z\t\t7E57FFFF\tunknown\t/CN=Test\n"
        }
    }

    private static func pem(_ certificate: ForgedCertificate) -> String {
        let base64 = Data(certificate.der).base64EncodedString(
            options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
    }

    /// The arguments of `openssl` that make it the responder of a name.
    func arguments(_ name: String) -> [String] {
        [
            "ocsp", "-index", folder.file("\(name).index"),
            "-CA", folder.file(name == "leaf" ? "intermediate.pem" : "root.pem"),
            "-rsigner", folder.file("\(name).signer.pem"), "-rkey", folder.file("\(name).key.pem"), "-nmin", "60",
        ]
    }

    func send(_ request: APITransportRequest) async throws -> APITransportResponse {
        asked.withLock { $0.append(request.url) }
        let name = UUID().uuidString
        let (question, answer) = (try folder.write("\(name).q", request.body ?? []), folder.file("\(name).a"))
        let arguments =
            arguments(request.url.contains("leaf.test") ? "leaf" : "root") + [
                "-reqin", question, "-respout", answer,
            ]
        _ = try await ChildProcess.run(Self.path ?? "/usr/bin/false", arguments)
        return APITransportResponse(status: 200, body: Array(try Data(contentsOf: URL(filePath: answer))))
    }
}
