/// An invalid configuration, with all problems.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One setting that cannot be used. Branch on ``key``; show ``message``; correct the setting at ``place``.
    public struct Problem: Sendable, Hashable, CustomStringConvertible {
        /// The key in the configuration file, with dots between levels: `timeouts.idle`, `apps[2].bundle-id`.
        public let key: String
        /// Where the value came from: `serve.yaml:12`, `LEGACY_RECEIPTS_TIMEOUTS_IDLE`, `--port`.
        public let place: String?
        /// A sentence for a person. It never contains the value of a secret.
        public let message: String

        package init(key: String, place: String?, _ message: String) {
            self.key = key
            self.place = place
            self.message = message
        }

        /// Two problems with the same key are equal.
        public static func == (left: Self, right: Self) -> Bool { left.key == right.key }

        public func hash(into hasher: inout Hasher) { hasher.combine(key) }

        public var description: String {
            [place, key.isEmpty ? nil : key, message].compactMap { $0 }.joined(separator: ": ")
        }
    }

    /// Every problem found. Two errors are equal if the same keys have problems, in the same order.
    public let problems: [Problem]

    init(_ problems: [Problem]) { self.problems = problems }

    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
