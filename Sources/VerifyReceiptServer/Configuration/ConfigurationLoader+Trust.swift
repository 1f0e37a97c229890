import LegacyReceipts
import NIOSSL
import VerifyReceipt

// Whose signatures count under receipts, and reading of certificates.

extension ConfigurationLoader {
    mutating func trust() -> TrustPolicy {
        let roots = values.texts("trust.roots").flatMap { receiptCertificates($0, key: "trust.roots") }
        let intermediates = values.texts("trust.intermediates").flatMap {
            receiptCertificates($0, key: "trust.intermediates")
        }
        let xcode = values.boolean("trust.accept-xcode")
        if !roots.isEmpty {
            warnings.append("trust.roots makes receipts count that Apple did not sign: for tests only")
        }
        if xcode { warnings.append("trust.accept-xcode makes receipts count that anybody can make: for tests only") }
        return TrustPolicy(
            additionalRoots: roots, additionalIntermediates: intermediates, acceptsXcodeReceipts: xcode)
    }

    private mutating func receiptCertificates(_ path: String, key: String) -> [[UInt8]] {
        certificates(path, key: key) { encoded in
            _ = try VerifyReceiptEndpoint(
                configuration: EndpointConfiguration(trust: TrustPolicy(additionalRoots: encoded)), store: nil)
        }
    }

    /// The certificates of a PEM or DER file as DER.
    ///
    /// - Parameter check: throws if they cannot be used where they are wanted.
    mutating func certificates(_ path: String, key: String, check: ([[UInt8]]) throws -> Void) -> [[UInt8]] {
        let place = values.place(of: key)
        do {
            let bytes = Array(try BoundedFile.read(path, maximumSize: 1 << 20))
            let isPEM = String(decoding: bytes, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----")
            let certificates =
                isPEM
                ? try NIOSSLCertificate.fromPEMBytes(bytes) : [try NIOSSLCertificate(bytes: bytes, format: .der)]
            let encoded = try certificates.map { try $0.toDERBytes() }
            try check(encoded)
            return encoded
        } catch let error as BoundedFile.Failure {
            problems.append(.init(key: key, place: place, "\(path) cannot be read: \(error)"))
        } catch {
            problems.append(.init(key: key, place: place, "\(path) is not an X.509 certificate in PEM or DER"))
        }
        return []
    }
}
