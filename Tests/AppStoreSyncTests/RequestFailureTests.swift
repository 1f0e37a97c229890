import AppStoreModels
import AppStoreServer
import AppStoreSync
import Testing

struct RequestFailureTests {
    @Test("Two refusals of the App Store are equal if their status and error number are, whichever app they are about")
    func equalityOfRefusals() {
        let all: [AppStoreRefusal] = [
            .init(bundleID: "com.example.a", environment: .production, httpStatus: 404, code: .appNotFound),
            .init(bundleID: "com.example.b", environment: .sandbox, httpStatus: 404, code: .appNotFound),
            .init(bundleID: "com.example.a", environment: .production, httpStatus: 404),
            .init(bundleID: "com.example.a", environment: .production, httpStatus: 401),
        ]
        #expect(all[0] == all[1] && Set(all).count == 3)
    }

    @Test("All failures to reach the App Store are equal, for any last failure")
    func equalityOfOutages() {
        #expect(AppStoreUnreachable(reason: "timed out") == AppStoreUnreachable(reason: "HTTP 503"))
    }
}
