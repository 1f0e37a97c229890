import AppStoreModels
import AppStoreServer
import Foundation
import Testing

@Suite struct ErrorTests {
    @Test(
        "Every code of Reference.md S3 comes with its number, message and status, and is tried again only if that is safe",
        arguments: APIErrorCode.knownValues)
    func everyCode(code: APIErrorCode) async throws {
        let transport = ScriptedTransport([.refusal(code.rawValue)])
        let clock = TestClock()
        let client = try Sample.client(transport, clock: clock, retries: RetryPolicy(maximumAttempts: 3))
        let error = try #require(try await apiError { try await client.getTransactionInfo("1") })
        #expect(error.code == code)
        #expect(error.code?.rawValue == code.rawValue)
        #expect(error.httpStatus == code.httpStatus)
        #expect(error.message == "Message \(code.rawValue).")
        #expect(error.reason == (code == .rateLimitExceeded ? .rateLimited : .refused))
        let again = [4_040_002, 4_040_004, 4_040_006, 5_000_001, 4_290_000].contains(code.rawValue)
        #expect(transport.requests.count == (again ? 3 : 1))
        #expect(error.attempts == transport.requests.count)
        #expect(error.description.contains(code.name ?? "?"))
    }

    @Test("Every code has its own explanation, one sentence with the fault and what to do")
    func explanations() async throws {
        var seen: Set<String> = []
        for code in APIErrorCode.knownValues {
            let client = try Sample.client(
                ScriptedTransport([.refusal(code.rawValue)]), retries: RetryPolicy(maximumAttempts: 1))
            let error = try #require(try await apiError { try await client.getTransactionInfo("1") })
            let text = error.explanation
            #expect(text.hasSuffix(".") && text.contains(": ") && !text.contains("`"), "\(text)")
            if error.reason == .refused { #expect(seen.insert(text).inserted, "\(text)") }
        }
        let unknown = try Sample.client(ScriptedTransport([.refusal(4_000_999)]))
        let error = try #require(try await apiError { try await unknown.getTransactionInfo("1") })
        #expect(error.explanation.contains("follow the error's text"))
    }

    @Test("There are 87 codes, none twice, each with another name")
    func codes() {
        #expect(APIErrorCode.knownValues.count == 87)
        #expect(Set(APIErrorCode.knownValues).count == 87)
        #expect(Set(APIErrorCode.knownValues.compactMap(\.name)).count == 87)
    }

    @Test("An unknown code is kept as its number")
    func unknownCode() async throws {
        let client = try Sample.client(ScriptedTransport([.refusal(4_000_999)]))
        let error = try #require(try await apiError { try await client.getTransactionInfo("1") })
        #expect(error.code?.rawValue == 4_000_999)
        #expect(error.code?.isKnown == false && error.code?.name == nil)
        #expect(error.reason == .refused)
    }

    @Test(
        "A code and no message is still a code; a body that is no error object leaves the status alone",
        arguments: [
            (#"{"errorCode":4040010}"#, 4_040_010 as Int64?), (#"{"errorCode":"4040010"}"#, nil),
            (#"{"errorMessage":"x"}"#, nil),
            ("", nil), ("<html>404</html>", nil), ("[]", nil), (#"{"errorCode":1.5}"#, nil), ("{", nil),
        ])
    func errorBodies(body: String, code: Int64?) async throws {
        let client = try Sample.client(ScriptedTransport([.json(body, status: 404)]))
        let error = try #require(try await apiError { try await client.getTransactionInfo("1") })
        #expect(error.httpStatus == 404)
        #expect(error.code?.rawValue == code)
        #expect(error.reason == (code == nil ? .unexpectedStatus : .refused))
    }

    @Test("Two errors are equal when their reasons and Apple's numbers are")
    func equality() async throws {
        let client = try Sample.client(ScriptedTransport([.refusal(APIErrorCode.transactionIdNotFound.rawValue)]))
        let error = try #require(try await apiError { try await client.getTransactionInfo("1") })
        var other = error
        other.message = "In other words."
        other.detail = "and more"
        other.attempts += 1
        other.httpStatus = nil
        #expect(other == error && Set([error, other]).count == 1)
        other.code = .accountNotFound
        #expect(other != error)
        other = error
        other.reason = .rateLimited
        #expect(other != error)
    }

    @Test("Two errors of a transport are equal when they are of the same case")
    func equalityOfTransportErrors() {
        let all: [APITransportError] = [
            .notConnected("refused"), .notConnected("unreachable"), .interrupted("cut"), .interrupted("closed"),
            .timedOut,
            .responseTooLarge,
        ]
        #expect(all[0] == all[1] && all[2] == all[3] && Set(all).count == 4)
    }

    @Test("401 has no body; the next call carries a new token")
    func unauthorized() async throws {
        let transport = ScriptedTransport([.json("{}"), .unauthorized, .json("{}")])
        let client = try Sample.client(transport)
        _ = try await client.getTransactionInfo("1")
        let error = try #require(try await apiError { try await client.getTransactionInfo("1") })
        #expect(error.reason == .unauthorized && error.httpStatus == 401 && error.code == nil)
        _ = try await client.getTransactionInfo("1")
        let tokens = transport.requests.map { $0.header("Authorization") }
        #expect(tokens[0] == tokens[1])
        #expect(tokens[1] != tokens[2])
    }

    @Test(
        "Each of Apple's errors is about the app or its key, or about one customer",
        arguments: APIErrorCode.knownValues)
    func concernsApp(code: APIErrorCode) async throws {
        let client = try Sample.client(ScriptedTransport([.refusal(code.rawValue)]), retries: .never)
        let error = try #require(try await apiError { try await client.getTransactionInfo("1") })
        #expect(error.concernsApp == [4_000_002, 4_040_003, 4_040_004].contains(code.rawValue))
    }

    @Test(
        "401 concerns the app, and so does 403 unless its code is known; other statuses without a code do not",
        arguments: [
            (401, "", true), (403, "", true), (403, #"{"errorCode":4030999}"#, true),
            (403, #"{"errorCode":4030004}"#, false), (400, #"{"errorCode":4000999}"#, false), (404, "", false),
            (500, "", false),
        ])
    func statusConcernsApp(status: Int, body: String, concernsApp: Bool) async throws {
        let client = try Sample.client(ScriptedTransport([.json(body, status: status)]), retries: .never)
        let error = try #require(try await apiError { try await client.getTransactionInfo("1") })
        #expect(error.concernsApp == concernsApp)
    }

    @Test("A message of Apple's is kept to 1,000 characters")
    func longMessage() async throws {
        let text = String(repeating: "x", count: 5000)
        let client = try Sample.client(
            ScriptedTransport([.json(#"{"errorCode":4000000,"errorMessage":"\#(text)"}"#, status: 400)]))
        let error = try #require(try await apiError { try await client.getTransactionInfo("1") })
        #expect(error.message?.count == 1000)
    }

    @Test(
        "An answer that does not match the API is an error that names the place, not the value",
        arguments: [
            ("", "not a JSON object"), ("[]", "its top"), ("null", "not a JSON object"),
            ("{\"hasMore\":", "not a JSON object"),
            (#"{"hasMore":"secret"}"#, "hasMore"), (#"{"signedTransactions":[1]}"#, "signedTransactions"),
            (#"{"appAppleId":1e30}"#, "The answer"), (#"{"appAppleId":1e400}"#, "The answer"),
            ("{\"x\":\"\u{1}\"}", "not a JSON object"),
            ("{\"x\":" + String(repeating: "[", count: 100) + String(repeating: "]", count: 100) + "}", "64 levels"),
        ])
    func garbage(body: String, place: String) async throws {
        let transport = ScriptedTransport([.json(body)])
        let client = try Sample.client(transport)
        let error = try #require(try await apiError { try await client.getTransactionHistory("1") })
        #expect(error.reason == .invalidResponse)
        #expect(error.detail?.contains(place) == true, "\(error)")
        #expect(!error.description.contains("secret"))
        #expect(transport.requests.count == 1)
    }

    @Test("An error and a request do not print the customer's transaction or the token")
    func secrecy() async throws {
        let transport = ScriptedTransport([.refusal(4_040_010)])
        let client = try Sample.client(transport)
        let error = try #require(try await apiError { try await client.getTransactionInfo("700001234567890") })
        #expect(!"\(error)".contains("700001234567890"))
        let request = try #require(transport.requests.first)
        var dumped = "\(request)"
        dump(request, to: &dumped)
        #expect(!dumped.contains("Bearer") && !dumped.contains("700001234567890"))
    }

    @Test("Clients for environments without a server, and base URLs that are none, are refused")
    func configuration() throws {
        for environment in [Environment.xcode, .localTesting, Environment(rawValue: "Moon")] {
            let error = #expect(throws: APIClientConfigurationError.self) {
                try Sample.client(ScriptedTransport([]), environment: environment, baseURL: nil)
            }
            #expect(error == .noServer(environment.rawValue))
            #expect(error?.description.contains(" \(environment.rawValue);") == true)
            #expect(throws: Never.self) { try Sample.client(ScriptedTransport([]), environment: environment) }
        }
        for url in [
            "", "api.test", "ftp://api.test", "https://", "https:///x", "https://a b", "https://a?x=1", "https://a#x",
        ] {
            #expect(throws: APIClientConfigurationError.invalidBaseURL, "\(url)") {
                try Sample.client(ScriptedTransport([]), baseURL: url)
            }
        }
    }

    @Test("Errors of a client's configuration are equal if they are of the same kind")
    func equalConfigurationErrors() {
        let all: [APIClientConfigurationError] = [.noServer("Xcode"), .noServer("Moon"), .invalidBaseURL]
        #expect(all[0] == all[1] && all[0] != all[2] && Set(all).count == 2)
    }

    @Test("Each environment has Apple's host")
    func hosts() async throws {
        for (environment, host) in [
            (Environment.production, "https://api.storekit.apple.com/"),
            (.sandbox, "https://api.storekit-sandbox.apple.com/"),
        ] {
            let transport = ScriptedTransport([.json("{}")])
            let client = try Sample.client(transport, environment: environment, baseURL: nil)
            _ = try await client.getTransactionInfo("1")
            #expect(transport.requests.first?.url == host + "inApps/v1/transactions/1")
        }
    }
}
