internal import AppStoreModels
internal import LegacyReceipts
internal import Purchases

/// The reply to a StoreKit 2 JWS. It is an extension in the form of the reply to an app receipt. So an old server also
/// works with apps that no longer have a receipt.
///
/// `in_app` contains the single transaction of the JWS. App data that a JWS does not contain comes from the app
/// transaction and the configuration, if known. `latest_receipt` is the newest known receipt, or else the JWS itself,
/// which gives the same answer when it is submitted again.
struct SignedTransactionReply {
    let payload: JWSTransactionDecodedPayload
    let origin: FactOrigin
    let text: ArraySlice<UInt8>
    let context: ReplyContext

    func reply() -> (body: [UInt8], showsSubscriptions: Bool, transactionsFromStore: Int) {
        let own = TransactionEntry(StoredTransaction(payload, origin: origin))
        let latest = LatestTransactions([own], context)
        let tail = ReplyTail(latest, context)
        let body = tail.reply(
            at: context.environment, reservingCapacity: 4_096, receipt: { write(own, to: &$0) },
            newest: context.customer?.newestAppReceipt, .verbatim(text))
        return (body, latest.hasAutoRenewable || tail.showsRenewals, latest.storeOnlyCount)
    }

    private func write(_ own: TransactionEntry, to writer: inout JSONWriter) {
        let known = context.customer?.appTransaction?.payload
        let type: ReceiptType = context.environment == .production ? .production : .productionSandbox
        let appleId = context.environment == .sandbox ? 0 : known?.appAppleId ?? context.app?.appleId
        writer.member("receipt_type", type.rawValue)
        writer.member("adam_id", appleId)
        writer.member("app_item_id", appleId)
        writer.member("bundle_id", payload.bundleId)
        writer.member("application_version", known?.applicationVersion)
        writer.member("version_external_identifier", known?.versionExternalIdentifier)
        writer.member(DateKeys.receiptCreation, payload.signedDate)
        writer.member(DateKeys.request, context.now)
        writer.member(DateKeys.originalPurchase, known?.originalPurchaseDate)
        writer.member("original_application_version", known?.originalApplicationVersion)
        writer.member(DateKeys.preorder, known?.preorderDate)
        writer.transactions("in_app", [own], EntryStyle(isLatest: false, presumed: context.presumed))
    }
}
