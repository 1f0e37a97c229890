internal import Crypto

/// A secret of App Store Connect that a request states in `password` (Reference.md V1.2).
///
/// Only its SHA-256 is kept, so that the text cannot get into a log or a crash report, and so that a comparison takes the
/// same time wherever a guess is wrong and however long it is.
public struct SharedSecret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    private let digest: [UInt8]?

    /// - Parameter text: the secret as App Store Connect shows it. An empty text is no secret: no password matches it.
    public init(_ text: String) {
        digest = text.isEmpty ? nil : Self.digest(text)
    }

    /// Whether any of the secrets is the password. Every secret is compared in full, whatever the ones before gave.
    package static func matches(_ password: String, anyOf secrets: [[SharedSecret]]) -> Bool {
        let candidate = digest(password)
        var found: UInt8 = 0
        for group in secrets {
            for secret in group { found |= secret.equality(candidate) }
        }
        return found != 0
    }

    /// 1 if the digests are equal, else 0, without a branch that depends on where they differ.
    private func equality(_ candidate: [UInt8]) -> UInt8 {
        guard let digest, digest.count == candidate.count else { return 0 }
        var difference: UInt8 = 0
        for index in digest.indices { difference |= digest[index] ^ candidate[index] }
        // 0 becomes 1, everything else 0.
        return UInt8((UInt16(difference) &- 1) >> 8 & 1)
    }

    private static func digest(_ text: String) -> [UInt8] {
        var hash = SHA256()
        var text = text
        text.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        return Array(hash.finalize())
    }

    public var description: String { "SharedSecret(redacted)" }
    public var debugDescription: String { description }
    /// Hides the digest from `dump` and from descriptions of values that hold a secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
