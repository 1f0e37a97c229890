internal import AppStoreModels
internal import LegacyReceipts
internal import Purchases

/// The reply to an app receipt (Reference.md V3), written straight to bytes.
///
/// Presence rules:
/// - A member whose attribute is missing or empty is omitted, except `download_id`, which is null, as in Apple's recorded
///   replies since 2020. No recorded reply has another null, and none has an empty `original_application_version` or
///   `original_purchase_date`.
/// - `in_app` is always present, in the order of the encoding, and mirrors the submitted receipt.
/// - ``EndpointConfiguration/LatestTransactions`` decides about `latest_receipt_info` and `latest_receipt`.
/// - `latest_receipt` is the newest known receipt, with all of its transactions: this endpoint cannot sign a shorter one for
///   `exclude-old-transactions`.
/// - `pending_renewal_info` is present if the store has renewal data. It omits the end of an older period if a newer period
///   is shown.
/// - Apple deletes old sandbox purchases; this endpoint does not.
struct AppReceiptReply {
    let receipt: AppReceipt
    let submittedReceipt: ReceiptText
    let context: ReplyContext

    /// The transactions of the receipt, in its order.
    let submitted: [TransactionEntry]
    /// All known transactions.
    let latest: LatestTransactions
    private let tail: ReplyTail

    init(_ receipt: AppReceipt, _ submission: Submission, _ context: ReplyContext) {
        self.receipt = receipt
        submittedReceipt = submission.text
        self.context = context
        submitted = receipt.inAppPurchases.map { TransactionEntry($0) }
        latest = LatestTransactions(submitted, resolvedAlone: submission.entry.resolvedAlone, context)
        tail = ReplyTail(latest, context)
    }

    /// Whether the reply contains data of a subscription, which requires a password.
    var showsSubscriptions: Bool { latest.hasAutoRenewable || tail.showsRenewals }

    /// The JSON text.
    func body() -> [UInt8] {
        tail.reply(
            at: context.environment, reservingCapacity: 2_048 + 1_100 * submitted.count,
            // A closure, because the method as a value would copy the reply.
            receipt: { writeReceiptMembers(to: &$0) },
            newest: context.customer?.appReceipt(newerThan: receipt.receiptCreationDate), submittedReceipt)
    }

    /// The members of `receipt` (Reference.md V3.2).
    func writeReceiptMembers(to writer: inout JSONWriter) {
        writer.member("receipt_type", receipt.receiptType?.rawValue)
        writer.member("adam_id", receipt.appItemId)
        writer.member("app_item_id", receipt.appItemId)
        writer.member("bundle_id", receipt.bundleId)
        writer.member("application_version", receipt.applicationVersion)
        writer.key("download_id")
        if let downloadId = receipt.downloadId { writer.integer(downloadId) } else { writer.null() }
        writer.member("version_external_identifier", receipt.versionExternalIdentifier)
        // Attribute 12, not 8 (Reference.md V3.3).
        writer.member(DateKeys.receiptCreation, receipt.receiptCreationDate)
        writer.member(DateKeys.request, context.now)
        writer.member(DateKeys.originalPurchase, receipt.originalPurchaseDate)
        writer.member("original_application_version", receipt.originalApplicationVersion)
        writer.member(DateKeys.expiration, receipt.expirationDate)
        writer.member(DateKeys.preorder, receipt.preorderDate)
        writer.transactions("in_app", submitted, EntryStyle(isLatest: false, presumed: context.presumed))
    }
}

/// `latest_receipt_info`, `latest_receipt` and `pending_renewal_info`.
struct ReplyTail {
    private let latest: LatestTransactions
    private let isShown: Bool
    private let renewalInfos: [JWSRenewalInfoDecodedPayload]
    private let presumed: EndpointConfiguration.PresumedMembers

    init(_ latest: LatestTransactions, _ context: ReplyContext) {
        renewalInfos = context.customer?.renewalInfos(context.recordedFacts, beside: latest.entries) ?? []
        var latest = latest
        if context.excludesOldTransactions { latest.excludeOld(now: context.now) }
        if let customer = context.customer {
            latest.add(context.endpoint.configuration.additionalMembers, of: customer, context.catalog)
        }
        self.latest = latest
        presumed = context.presumed
        isShown =
            switch context.endpoint.configuration.latestTransactions {
            case .always: !latest.entries.isEmpty
            case .withSubscriptions: latest.hasAutoRenewable
            }
    }

    var showsRenewals: Bool { !renewalInfos.isEmpty }

    private var estimatedSize: Int { isShown ? 1_300 * latest.entries.count + 512 * renewalInfos.count : 0 }

    /// The whole reply.
    /// - Parameters:
    ///   - environment: the environment of the endpoint.
    ///   - capacity: for the part before the tail.
    ///   - receipt: writes the members of `receipt`.
    ///   - newest: a stored receipt that replaces the submitted one as `latest_receipt`.
    ///   - submitted: the submitted receipt.
    func reply(
        at environment: EndpointEnvironment, reservingCapacity capacity: Int, receipt: (inout JSONWriter) -> Void,
        newest: KnownReceipt?, _ submitted: ReceiptText
    ) -> [UInt8] {
        JSONWriter.object(reservingCapacity: capacity + estimatedSize + submitted.estimatedSize) { writer in
            writer.member("status", 0)
            writer.member("environment", environment.rawValue)
            writer.object("receipt", receipt)
            write(to: &writer) { $0.latestReceipt(newest, submitted) }
        }
    }

    private func write(to writer: inout JSONWriter, latestReceipt: (inout JSONWriter) -> Void) {
        if isShown {
            writer.transactions("latest_receipt_info", latest.entries, EntryStyle(isLatest: true, presumed: presumed))
            latestReceipt(&writer)
        } else if presumed.lists {
            writer.member("latest_receipt_info", [String]())
        }
        guard !renewalInfos.isEmpty || presumed.lists else { return }
        writer.objects("pending_renewal_info", renewalInfos) { writer, info in writer.renewalInfo(info) }
    }
}

extension JSONWriter {
    mutating func transactions(_ name: StaticString, _ entries: [TransactionEntry], _ style: EntryStyle) {
        key(name)
        beginArray()
        for index in entries.indices { transaction(entries[index], style) }
        endArray()
    }

    /// `latest_receipt`: a stored receipt, or else the submitted one exactly as it was submitted.
    mutating func latestReceipt(_ known: KnownReceipt?, _ submitted: ReceiptText) {
        key("latest_receipt")
        if let known {
            base64(known.bytes)
        } else {
            switch submitted {
            case .verbatim(let text): plainText(text)
            case .bytes(let bytes): base64(bytes)
            }
        }
    }
}

/// The submitted receipt in the form that the reply contains.
enum ReceiptText {
    /// Text that strict decoding or the grammar of a JWS accepted. It needs no escapes.
    case verbatim(ArraySlice<UInt8>)
    /// Bytes that must be encoded again because the text was damaged.
    case bytes([UInt8])

    var estimatedSize: Int {
        switch self {
        case .verbatim(let text): text.count
        case .bytes(let bytes): bytes.count / 3 * 4 + 4
        }
    }
}
