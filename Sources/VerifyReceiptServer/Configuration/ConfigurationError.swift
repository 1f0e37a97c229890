/// What is wrong with a configuration. Every problem found is reported, not only the first.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    public struct Problem: Sendable, Hashable, CustomStringConvertible {
        /// The key as it stands in a configuration file, levels joined by dots: `timeouts.idle`, `apps[2].bundle-id`.
        public let key: String
        /// Where the value came from: `serve.yaml:12`, `LEGACY_RECEIPTS_TIMEOUTS_IDLE`, `--port`.
        public let place: String?
        /// A sentence for a person. It never holds the value of a secret.
        public let message: String

        package init(key: String, place: String?, _ message: String) {
            self.key = key
            self.place = place
            self.message = message
        }

        public var description: String {
            [place, key.isEmpty ? nil : key, message].compactMap { $0 }.joined(separator: ": ")
        }
    }

    public let problems: [Problem]

    init(_ problems: [Problem]) { self.problems = problems }

    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
