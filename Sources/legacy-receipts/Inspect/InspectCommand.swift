import ArgumentParser
import LegacyReceipts

struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Print the content of one receipt and the result of each check.",
        discussion: """
            EXIT STATUS:
              0  genuine
              1  not genuine, or of another device
              2  usage, input or output error
              3  not a receipt, or too damaged to be read as one

            EXAMPLES:
              legacy-receipts inspect receipt.b64
              legacy-receipts inspect --json - < receipt.der
              legacy-receipts inspect --trust-root test-root.pem receipt.b64
              legacy-receipts inspect --device 6c:40:08:b5:94:5e receipt.der
            """)

    @Argument(
        help: ArgumentHelp("The receipt, raw or base64; - for standard input.", valueName: "file"), completion: .file())
    var file: String

    @Flag(help: "Print JSON.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Check that the receipt was made for this device: identifierForVendor (iOS) or MAC address (macOS).",
            valueName: "id"))
    var device: String?

    @OptionGroup(title: "Trust")
    var trust: TrustOptions

    func validate() throws {
        if let device, DeviceIdentifier(device) == nil {
            throw ValidationError("--device takes a UUID (16 bytes) or a MAC address (6 bytes), not '\(device)'.")
        }
    }

    func run() throws {
        let identifier = device.flatMap { DeviceIdentifier($0) }
        let verifier = try ReceiptVerifier(trust: trust.policy())
        let bytes = try InputFile.read(file)
        let inspection: ReceiptInspection
        do throws(ReceiptError) {
            inspection = verifier.inspect(try ReceiptContainer(stored: bytes), device: identifier)
        } catch {
            try Terminal.output(json ? InspectionJSON.text(error) : InspectionText.text(error))
            advise(bytes)
            throw ExitStatus.notAReceipt
        }
        try Terminal.output(json ? InspectionJSON.text(inspection) : InspectionText.text(inspection))
        if case .failure(let error) = inspection.verdict {
            guard error.verdict == .notAReceipt else { throw ExitStatus.notGenuine }
            advise(bytes)
            throw ExitStatus.notAReceipt
        }
        // Success would mean that the device matches.
        if identifier != nil, inspection.form == .propertyList {
            throw CommandFailure("--device cannot be checked: a transaction receipt has no device hash.")
        }
    }

    private func advise(_ bytes: [UInt8]) {
        if let advice = Advice.about(bytes) { Terminal.error(advice) }
    }
}
