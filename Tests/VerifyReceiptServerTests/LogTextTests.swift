import Foundation
import Logging
import Testing
import VerifyReceiptServer

/// A line of the log is one line of printable text, for any input of a client.
@Suite struct LogTextTests {
    /// One of each Unicode category that does not print: Cc (C0 and C1), Cf, Zl, Zp, Co, Cn.
    static let unprintable: [Unicode.Scalar] = [
        "\u{0}", "\u{7}", "\n", "\r", "\u{1B}", "\u{7F}", "\u{85}", "\u{9B}", "\u{AD}", "\u{200B}", "\u{200F}",
        "\u{202E}", "\u{2028}", "\u{2029}", "\u{2066}", "\u{FEFF}", "\u{E000}", "\u{10FFFF}", "\u{378}",
    ]

    private static func line(
        _ format: VerifyReceiptServerConfiguration.Logging.Format, _ text: String
    ) throws -> String {
        let log = try CapturedLog()
        let logger = Logger(label: "test") { _ in
            ServerLogHandler(level: .info, format: format, writer: log.writer)
        }
        logger.info("message \(text)", metadata: ["field": "\(text)", "list": ["\(text)"]])
        return log.text
    }

    @Test(arguments: VerifyReceiptServerConfiguration.Logging.Format.allCases)
    func unprintableCharactersAreEscaped(format: VerifyReceiptServerConfiguration.Logging.Format) throws {
        for scalar in Self.unprintable {
            let line = try Self.line(format, "a\(scalar)b")
            #expect(line.hasSuffix("\n"))
            let body = line.dropLast()
            for other in body.unicodeScalars {
                #expect(!Self.unprintable.contains(other), "U+\(String(scalar.value, radix: 16)): \(line)")
            }
        }
    }

    @Test func lettersOfAllScriptsStayAsTheyAre() throws {
        let text = "grün 日本語 🎉 \"quoted\" \\"
        #expect(try Self.line(.text, text).contains("message \(text) field=\(text)"))
        let object = try #require(
            JSONSerialization.jsonObject(with: Data(Self.line(.json, text).utf8)) as? [String: Any])
        #expect(object["field"] as? String == text)
    }

    @Test func jsonHasTheSameTextAfterItsEscapes() throws {
        for scalar in Self.unprintable {
            let line = try Self.line(.json, "a\(scalar)b")
            let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let field = try #require(object["field"] as? String)
            #expect(Array(field.unicodeScalars) == Array("a\(scalar)b".unicodeScalars))
        }
    }
}

extension ServerTests {
    @Suite(.serialized) struct Reasons {
        /// What is quoted of a receipt whose signature was not checked could be anything.
        @Test(arguments: [
            #"{"WHISPER" x}"#, #"{"WHISPER" = "1" "x" = "y";}"#,
            "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>WHISPER</key><array/></dict></plist>",
            "WHISPER", #"{"WHISPER" = "1";}"#, #"{"purchase-info" = "WHISPER";}"#,
        ])
        func theReasonQuotesNothingUnverified(receipt: String) async throws {
            try await TestServer.run { server in
                let receipt = Data(receipt.utf8).base64EncodedString()
                let answer = try await Wire.ask(server.port, Sent.post(Sent.body(receipt)))
                #expect(answer.verifyStatus != 0)
                #expect(server.log.text.contains(#""reason":"#))
                #expect(!server.log.text.contains("WHISPER"), "\(server.log.text)")
            }
        }
    }
}
