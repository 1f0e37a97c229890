import ArgumentParser
import LegacyReceipts
import Migration

struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Print the content of one document and the result of each check.",
        discussion: """
            Reads a receipt, a JWS of StoreKit 2 (transaction, renewal info, app transaction), a version 2 notification \
            (signedPayload, with every JWS in it), a verifyReceipt request, a recorded reply with the receipts in it, and other \
            documents that migrate reads. Signatures are verified at the date of signing. A recorded document has no \
            signature, so it is never genuine.

            EXIT STATUS:
              0  genuine
              1  not genuine, not signed, or of another app or device
              2  usage, input or output error
              3  not a document of the App Store, or too damaged to be read

            EXAMPLES:
              legacy-receipts inspect receipt.b64
              legacy-receipts inspect --json - < receipt.der
              legacy-receipts inspect --trust-root test-root.pem receipt.b64
              legacy-receipts inspect --bundle-id com.example.app transaction.jws
              legacy-receipts inspect --json notification.json
              legacy-receipts inspect --device 6c:40:08:b5:94:5e receipt.der
            """)

    @Argument(help: .value("file", "The document; - for standard input. Receipts raw or base64."), completion: .file())
    var file: String

    @Flag(help: "Print JSON.")
    var json = false

    @Option(
        help: .value(
            "id", "Check that the receipt was made for this device: identifierForVendor (iOS) or MAC address (macOS)."))
    var device: String?

    @Option(help: .value("id", "Check that a JWS or notification is of this app."))
    var bundleId: String?

    @OptionGroup(title: "Trust")
    var trust: TrustOptions

    func validate() throws {
        if let device, DeviceIdentifier(device) == nil {
            throw ValidationError("--device takes a UUID (16 bytes) or a MAC address (6 bytes), not '\(device)'.")
        }
    }

    func run() throws {
        let identifier = device.flatMap { DeviceIdentifier($0) }
        let inspector = try DocumentInspector(trust: trust.policy(), bundleId: bundleId)
        let bytes = try InputFile.read(file)
        let documents = inspector.documents(in: bytes)
        if !documents.isEmpty { return try show(documents) }
        let content = inspector.content(of: bytes, device: identifier)
        try Terminal.output(json ? DocumentInspectionJSON.text(content) : DocumentInspectionText.text(content))
        guard case .receipt(let inspection) = content else { throw notAReceipt(bytes) }
        if case .failure(let error) = inspection.verdict {
            throw error.verdict == .notAReceipt ? notAReceipt(bytes) : ExitStatus.notGenuine
        }
        // Success would mean that the app or the device matches.
        if bundleId != nil {
            throw CommandFailure("--bundle-id is checked for JWS only; attribute 2 of a receipt states it.")
        }
        if identifier != nil, inspection.form == .propertyList {
            throw CommandFailure("--device cannot be checked: a transaction receipt has no device hash.")
        }
    }

    private func show(_ documents: [DocumentInspection]) throws {
        try Terminal.output(json ? DocumentInspectionJSON.text(documents) : DocumentInspectionText.text(documents))
        let verdicts = documents.compactMap(\.verdict)
        if verdicts.contains(.notAReceipt) { throw ExitStatus.notAReceipt }
        if !verdicts.isEmpty { throw ExitStatus.notGenuine }
        if device != nil { throw CommandFailure("--device is checked for app receipts only.") }
        guard bundleId != nil else { return }
        for document in documents {
            guard case .signedData(let inspection) = document.content else {
                throw CommandFailure("--bundle-id is checked for JWS only; attribute 2 of a receipt states it.")
            }
            guard inspection.kind != .renewalInfo else {
                throw CommandFailure("--bundle-id cannot be checked: a renewal info has none.")
            }
        }
    }

    private func notAReceipt(_ bytes: [UInt8]) -> ExitCode {
        if let advice = Advice.about(bytes) { Terminal.error(advice) }
        return ExitStatus.notAReceipt
    }
}
