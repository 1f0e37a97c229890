import ArgumentParser
import LegacyReceipts

struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show everything in one receipt, and every check with its outcome.",
        discussion: """
            EXIT STATUS: 0 genuine, 1 not genuine (or of another device), 2 usage or input error, 3 not a receipt.

            EXAMPLES:
              legacy-receipts inspect receipt.b64
              legacy-receipts inspect --json - < receipt.der
              legacy-receipts inspect --device 68753A44-4D6F-1226-9C60-0050E4C00067 receipt.b64
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

    func run() throws {
        let identifier = try deviceIdentifier()
        let bytes = try InputFile.read(file)
        let verifier = try verifier()
        let inspection: ReceiptInspection
        do throws(ReceiptError) {
            inspection = verifier.inspect(try ReceiptContainer(stored: bytes), device: identifier)
        } catch {
            print(json ? InspectionJSON.text(error) : "Not a receipt: \(error.message)")
            throw ExitStatus.notAReceipt
        }
        print(json ? InspectionJSON.text(inspection) : InspectionText.text(inspection))
        guard case .failure(let error) = inspection.verdict else { return }
        throw error.verdict == .notGenuine ? ExitStatus.notGenuine : ExitStatus.notAReceipt
    }

    private func verifier() throws -> ReceiptVerifier {
        let policy = try trust.policy()
        do throws(ReceiptError) {
            return try ReceiptVerifier(trust: policy)
        } catch {
            throw ValidationError("A certificate to trust cannot be read. \(error.message)")
        }
    }

    private func deviceIdentifier() throws -> DeviceIdentifier? {
        guard let device else { return nil }
        guard let identifier = DeviceIdentifier(device) else {
            throw ValidationError("--device takes a UUID (16 bytes) or a MAC address (6 bytes), not '\(device)'.")
        }
        return identifier
    }
}
