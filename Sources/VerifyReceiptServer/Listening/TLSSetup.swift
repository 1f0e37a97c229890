import Foundation
import NIOSSL

/// Reads certificate files.
enum TLSSetup {
    struct Failure: Error, CustomStringConvertible {
        /// The key below `tls` whose file is wrong.
        let key: String
        let description: String
    }

    private static let certificateKey = "certificate"
    private static let privateKeyKey = "private-key"

    /// - Throws: ``Failure`` that names the file.
    static func configuration(_ files: VerifyReceiptServerConfiguration.TLSFiles) throws -> TLSConfiguration {
        let chain = try read(files.certificate, certificateKey) { try NIOSSLCertificate.fromPEMBytes($0) }
        guard !chain.isEmpty else {
            throw Failure(key: certificateKey, description: "\(files.certificate) contains no certificate in PEM")
        }
        let key = try read(files.privateKey, privateKeyKey) { try NIOSSLPrivateKey(bytes: $0, format: .pem) }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        do {
            // Makes BoringSSL compare certificate and key.
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw Failure(
                key: privateKeyKey, description: "\(files.privateKey) is not the private key of \(files.certificate)")
        }
        return configuration
    }

    /// When the first certificate of the chain expires, in seconds since 1970; nil without one.
    static func expiry(of configuration: TLSConfiguration) -> Int? {
        configuration.certificateChain.compactMap { source in
            guard case .certificate(let certificate) = source else { return nil }
            return Int(certificate.notValidAfter)
        }
        .min()
    }

    private static func read<Value>(
        _ path: String, _ key: String, _ parse: ([UInt8]) throws -> Value
    ) throws -> Value {
        let bytes: [UInt8]
        do {
            bytes = try BoundedFile.read(path, maximumSize: 1 << 20)
        } catch {
            throw Failure(key: key, description: "\(path) cannot be read: \(error)")
        }
        do {
            return try parse(bytes)
        } catch {
            throw Failure(key: key, description: "\(path) is not valid PEM of the expected kind")
        }
    }
}
