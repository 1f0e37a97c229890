public import AppStoreModels

/// Apple's number for a refused request (App Store Server API, error codes; Reference.md S3).
///
/// The first three digits are the HTTP status. Apple adds codes without notice and some of its documented errors have no
/// published number, so an unknown code is kept as it is.
public struct APIErrorCode: OpenEnum {
    /// The number as it stands in `errorCode`.
    public let rawValue: Int64

    /// Any number, known to this package or not.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// The HTTP status that the number says.
    public var httpStatus: Int { Int(clamping: rawValue / 10_000) }

    /// Apple's name for the error, without the suffix "Error"; nil for an unknown number.
    public var name: String? { Self.names[self] }

    /// Whether Apple named the error "Retryable": the same request may succeed if sent again.
    public var isRetryable: Bool { Self.retryable.contains(self) }

    /// The number, and Apple's name if it is known.
    public var description: String { name.map { "\(rawValue) (\($0))" } ?? "\(rawValue)" }

    /// The values this package knows.
    public static let knownValues: [Self] = table.map(\.code)

    private static let names = Dictionary(table.map { ($0.code, $0.name) }) { first, _ in first }

    private static let table = badRequests + forbidden + notFound + others
}

extension APIErrorCode {
    private static let retryable: Set<Self> = [
        .accountNotFoundRetryable, .appNotFoundRetryable, .originalTransactionIdNotFoundRetryable,
        .generalInternalRetryable,
    ]
}
