import AppStoreModels
import Purchases
import Testing

@Suite("Renewal infos and app transactions of signed documents")
struct SignedPartsTests {
    private func info(_ id: String?, signed date: Int64?) -> MappedRenewalInfo {
        var info = MappedRenewalInfo()
        info.payload.originalTransactionId = id
        info.payload.signedDate = date
        return info
    }

    @Test("An unsigned renewal info adds nothing if the newest signed one of its subscription is as new")
    func renewalInfos() {
        let parts = SignedParts(
            isEmpty: false, hasAppTransaction: false,
            renewalInfos: [info("1", signed: 20), info("1", signed: 10), info("2", signed: nil)])
        #expect(parts.state(info("1", signed: 20)))
        #expect(!parts.state(info("1", signed: 21)))
        #expect(parts.state(info("1", signed: nil)))
        #expect(parts.state(info("2", signed: nil)))
        #expect(!parts.state(info("2", signed: 0)))
        #expect(!parts.state(info("3", signed: 0)))
        #expect(!parts.state(info(nil, signed: nil)))
    }

    @Test("JSON adds an app transaction unless a signed one is there, others only without signed documents")
    func appTransactions() {
        for (isEmpty, hasApp) in [(true, false), (false, false), (false, true)] {
            let parts = SignedParts(isEmpty: isEmpty, hasAppTransaction: hasApp, renewalInfos: [])
            #expect(parts.stateApp(ofStoreKit2: true) == hasApp)
            #expect(parts.stateApp(ofStoreKit2: false) == !isEmpty)
        }
    }

    @Test("The newest receipt of each app states its app transaction")
    func newestOfApps() {
        let apps = ["a", "b", "a", "", "", "b"]
        let records = apps.map { SignedRecord(sha256: "0", receipt: MappingSupport.map([], bundleId: $0)) }
        #expect(SignedParts.countAsApp(records) == [true, true, false, true, true, false])
    }

    @Test("The newer signed document of a record comes first, whatever their order")
    func newest() {
        func record(_ sha256: String, _ date: Int64?) -> SignedRecord {
            SignedRecord(sha256: sha256, receipt: MappingSupport.map([], createdAt: date))
        }
        let (new, old, undated) = (record("a", 20_000), record("b", 10_000), record("c", nil))
        #expect(new.isNewer(than: old) && !old.isNewer(than: new))
        // Without a date of its own, the time of the verification counts.
        #expect(undated.date == 0 && old.isNewer(than: undated))
        #expect(record("d", 10_000).isNewer(than: old) && !old.isNewer(than: record("d", 10_000)))
        #expect(!old.isNewer(than: old))
    }
}
