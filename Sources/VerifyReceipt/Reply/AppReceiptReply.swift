internal import AppStoreModels
internal import LegacyReceipts
internal import ProductCatalog
internal import Purchases
internal import TransactionStore

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
    let environment: EndpointEnvironment
    let now: Int64
    let excludesOldTransactions: Bool
    let configuration: ReplyConfiguration
    let app: ConfiguredApp?
    let customer: Customer?

    /// The transactions of the receipt, in its order.
    let submitted: [TransactionEntry]
    /// All known transactions.
    let latest: LatestTransactions
    private let tail: ReplyTail

    init(
        _ receipt: AppReceipt, resolvedAlone: [StoredTransaction], text: ReceiptText, environment: EndpointEnvironment,
        now: Int64, excludesOldTransactions: Bool, configuration: ReplyConfiguration, app: ConfiguredApp?,
        customer: Customer?
    ) {
        self.receipt = receipt
        submittedReceipt = text
        self.environment = environment
        self.now = now
        self.excludesOldTransactions = excludesOldTransactions
        self.configuration = configuration
        self.app = app
        self.customer = customer
        submitted = receipt.inAppPurchases.map { TransactionEntry($0) }
        latest = LatestTransactions(
            submitted: submitted, resolvedAlone: resolvedAlone, customer: customer,
            recordedFacts: configuration.recordedFacts, order: app?.order ?? configuration.order, catalog: app?.catalog)
        tail = ReplyTail(
            latest: latest, customer: customer, excludesOldTransactions: excludesOldTransactions,
            now: now, configuration: configuration, catalog: app?.catalog)
    }

    /// Whether the reply contains data of a subscription, which requires a password.
    var showsSubscriptions: Bool { latest.hasAutoRenewable || tail.showsRenewals }

    /// The JSON text.
    func body() -> [UInt8] {
        var writer = JSONWriter(
            reservingCapacity: 2_048 + 1_100 * submitted.count + tail.estimatedSize + submittedReceipt.estimatedSize)
        writer.beginObject()
        writer.member("status", 0)
        writer.member("environment", environment.rawValue)
        writer.key("receipt")
        writer.beginObject()
        writeReceiptMembers(to: &writer)
        writer.endObject()
        let newest = customer?.appReceipt(newerThan: receipt.receiptCreationDate)
        tail.write(to: &writer) { $0.latestReceipt(newest, submittedReceipt) }
        writer.endObject()
        return writer.finish()
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
        writer.member(DateKeys.request, now)
        writer.member(DateKeys.originalPurchase, receipt.originalPurchaseDate)
        writer.member("original_application_version", receipt.originalApplicationVersion)
        writer.member(DateKeys.expiration, receipt.expirationDate)
        writer.member(DateKeys.preorder, receipt.preorderDate)
        writer.key("in_app")
        writer.transactions(submitted, EntryStyle(isLatest: false, presumed: configuration.presumedMembers))
    }
}

/// `latest_receipt_info`, `latest_receipt` and `pending_renewal_info`.
struct ReplyTail {
    private let latest: LatestTransactions
    private let isShown: Bool
    private let renewalInfos: [JWSRenewalInfoDecodedPayload]
    private let presumed: EndpointConfiguration.PresumedMembers

    init(
        latest: LatestTransactions, customer: Customer?, excludesOldTransactions: Bool, now: Int64,
        configuration: ReplyConfiguration, catalog: ProductCatalog?
    ) {
        renewalInfos = customer?.renewalInfos(configuration.recordedFacts, beside: latest.entries) ?? []
        var latest = latest
        if excludesOldTransactions { latest.excludeOld(now: now) }
        if let customer { latest.add(configuration.additionalMembers, of: customer, catalog) }
        self.latest = latest
        presumed = configuration.presumedMembers
        let includesLatestReceiptInfo =
            switch configuration.latestTransactions {
            case .always: !latest.entries.isEmpty
            case .withSubscriptions: latest.hasAutoRenewable
            }
        isShown = includesLatestReceiptInfo
    }

    var showsRenewals: Bool { !renewalInfos.isEmpty }

    var estimatedSize: Int { isShown ? 1_300 * latest.entries.count + 512 * renewalInfos.count : 0 }

    func write(to writer: inout JSONWriter, latestReceipt: (inout JSONWriter) -> Void) {
        if isShown {
            writer.key("latest_receipt_info")
            writer.transactions(latest.entries, EntryStyle(isLatest: true, presumed: presumed))
            latestReceipt(&writer)
        } else if presumed.lists {
            writer.key("latest_receipt_info")
            writer.beginArray()
            writer.endArray()
        }
        guard !renewalInfos.isEmpty || presumed.lists else { return }
        writer.key("pending_renewal_info")
        writer.beginArray()
        for info in renewalInfos { writer.renewalInfo(info) }
        writer.endArray()
    }
}

extension JSONWriter {
    mutating func transactions(_ entries: [TransactionEntry], _ style: EntryStyle) {
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
