import LegacyReceipts
import ReceiptForge
import Testing

/// An inspection shows check by check what the verifier decides: the two never contradict each other.
@Suite("Inspection")
struct InspectionTests {
    private static let names = (try? ForgedCases.small.map(\.name)) ?? []

    @Test(
        "The verdict is the verifier's; a refused receipt has a failed check, an accepted one has none",
        arguments: names)
    func agrees(name: String) throws {
        let forged = try #require(try ForgedCases.all().first { $0.name == name })
        guard let container = try? ReceiptContainer(stored: forged.bytes) else { return }
        let policies: [@Sendable (inout TrustPolicy) -> Void] = [{ _ in }, { $0.acceptsXcodeReceipts = true }]
        for policy in policies {
            let verifier = try ForgedCases.verifier(policy)
            let inspection = verifier.inspect(container)
            let failed = inspection.checks.filter { if case .failed = $0.outcome { true } else { false } }.map(\.name)
            do throws(ReceiptError) {
                let verified = try verifier.verify(container)
                #expect(inspection.verdict == .success(verified.evidence))
                #expect(inspection.receipt?.payload == verified.payload)
                // A contradiction of environments is reported, and does not invalidate the signature.
                #expect(failed.filter { $0 != .environment }.isEmpty, "\(forged.shows)")
            } catch {
                #expect(inspection.verdict == .failure(error))
                #expect(!failed.isEmpty, "\(error.message) \(forged.shows)")
            }
        }
    }

    @Test("Every attribute is shown, known and unknown, in the order of the encoding")
    func attributes() throws {
        let all = leastAttributes + [attribute(99, version: 3, [1, 2]), integer(1, 5), purchase()]
        let container = try ReceiptContainer(stored: message(DERWriter.set(inOrderGiven: all)))
        let inspection = ReceiptVerifier().inspect(container)
        #expect(inspection.attributes.map(\.type) == [0, 2, 12, 99, 1, 17])
        #expect(inspection.attributes[3] == RawAttribute(type: 99, version: 3, value: [1, 2]))
        #expect(inspection.byteCount == container.bytes.count)
        #expect(inspection.form == .pkcs7)
    }

    @Test("Device check: skipped, passed, failed")
    func device() throws {
        let guid: [UInt8] = [1, 2, 3, 4, 5, 6]
        let receipt = plainReceipt().with { $0.deviceGuid = guid }
        let container = try ReceiptContainer(stored: receipt.signedData(.g5).encoded())
        let verifier = try testVerifier()
        func outcome(_ device: DeviceIdentifier?) -> ReceiptInspection.Check.Outcome? {
            verifier.inspect(container, device: device).checks.first { $0.name == .device }?.outcome
        }
        #expect(outcome(DeviceIdentifier(bytes: guid)) == .passed)
        guard case .skipped = outcome(nil), case .failed(let error) = outcome(DeviceIdentifier(bytes: guid.reversed()))
        else {
            Issue.record("skipped and failed were expected")
            return
        }
        #expect(error.code == .deviceMismatch)
    }
}
