import Foundation
import ReceiptForge
import Testing

@Suite("inspect", .timeLimit(.minutes(10)))
struct InspectTests {
    @Test("A genuine receipt: 0, every attribute, purchase, certificate and check")
    func genuine() async throws {
        let folder = try Folder.withRoot()
        let outcome = try await folder.inspect("production-sha256")
        #expect(outcome.status == 0)
        #expect(outcome.error.isEmpty)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        #expect(lines.first?.hasPrefix("Genuine: signed under a root that YOU added, not Apple's; SHA-256") == true)
        #expect(lines.contains("  2    bundle_id                     com.example.orchard"))
        #expect(lines.contains("  12   receipt_creation_date         2024-03-15T10:20:30Z"))
        #expect(lines.contains("  Counts as Production."))
        #expect(lines.contains("Purchases: 2"))
        #expect(lines.contains("    1703 transaction_id                530001234567000"))
        #expect(lines.count { $0.hasPrefix("     SHA-256    ") } == 3)
        for check in [
            "content", "signerCertificate", "trustedRoot", "leafMarker", "intermediateMarker", "basicConstraints",
            "keyUsage", "validity", "signature",
        ] {
            #expect(lines.contains("  passed   \(check)"))
        }
        #expect(outcome.output.contains("skipped  device"))
        #expect(!lines.contains { $0.hasSuffix(" ") })
    }

    @Test("Unknown attributes are shown with their numbers and values")
    func unknownAttributes() async throws {
        let folder = try Folder.withRoot()
        let text = try await folder.inspect("unknown-attributes").output
        #expect(text.contains("  33   (unknown)                     yet to come\n"))
        #expect(text.contains("  9999 (unknown)                     deadbeef\n"))
        #expect(text.contains("  70000 (unknown)                     (empty)\n"))
        #expect(text.contains("    1723 (unknown)                     yet to come\n"))
        let json = try await folder.inspect("unknown-attributes", "--json").object()
        let attributes = try #require(json["attributes"] as? [[String: Any]])
        let unknown = try #require(attributes.first { $0["type"] as? Int == 9999 })
        #expect(unknown["hex"] as? String == "deadbeef")
        #expect(unknown["version"] as? Int == 2)
        #expect(unknown["name"] == nil)
    }

    @Test("--json is one object with the same facts, ids exact beyond 2^53")
    func json() async throws {
        let folder = try Folder.withRoot()
        let outcome = try await folder.inspect("ids-beyond-2-53", "--json")
        #expect(outcome.status == 0)
        #expect(outcome.output.hasSuffix("}\n"))
        let object = try outcome.object()
        #expect(object["verdict"] as? String == "genuine")
        #expect(object["anchor"] as? String == "additionalRoot")
        #expect(object["kind"] as? String == "appReceipt")
        #expect(object["environment"] as? String == "Production")
        #expect((object["certificates"] as? [Any])?.count == 3)
        #expect((object["purchases"] as? [Any])?.count == 1)
        #expect(outcome.output.contains("\"9007199254740993\""))
        #expect(outcome.output.contains("\"value\":9007199254740995"))
        let checks = try #require(object["checks"] as? [[String: Any]])
        #expect(checks.allSatisfy { $0["outcome"] as? String != "failed" })
        #expect(checks.contains { $0["check"] as? String == "signature" })
    }

    @Test(
        "A receipt that is not genuine: 1, and the check that failed with its reason",
        arguments: [
            ("foreign-root", "untrustedRoot", "trustedRoot"),
            ("leaf-without-marker", "missingLeafMarker", "leafMarker"),
            ("leaf-expired-at-creation", "certificateExpired", "validity"),
            ("intermediate-without-marker", "missingIntermediateMarker", "intermediateMarker"),
            ("leaf-key-usage", "keyUsage", "keyUsage"), ("xcode", "xcodeReceipt", "trustedRoot"),
            ("ios6-flipped-signature-bit", "signatureMismatch", "signature"),
        ])
    func notGenuine(name: String, code: String, check: String) async throws {
        let folder = try Folder.withRoot()
        try folder.write("tunes.der", TestCertificateAuthority.iTunesStoreIntermediateDER)
        let outcome = try await folder.inspect(name, "--intermediate", folder.file("tunes.der"))
        #expect(outcome.status == 1)
        #expect(outcome.output.hasPrefix("Not genuine (\(code)): "))
        let failed = outcome.output.split(separator: "\n").filter { $0.hasPrefix("  FAILED   ") }
        #expect(failed.contains { $0.dropFirst(11).hasPrefix(check + " ") }, "\(failed)")
        let json = try await folder.inspect(name, "--json", "--intermediate", folder.file("tunes.der"))
        #expect(json.status == 1)
        let object = try json.object()
        #expect(object["verdict"] as? String == "notGenuine")
        #expect(object["code"] as? String == code)
        let checks = try #require(object["checks"] as? [[String: Any]])
        #expect(checks.contains { $0["check"] as? String == check && $0["outcome"] as? String == "failed" })
    }

    @Test(
        "Input that is not a receipt: 3, and a sentence with the reason",
        arguments: [
            ("plain-text", "invalidBase64"), ("empty", "empty"), ("random-bytes", ""), ("base64-cut", "truncated"),
            ("pkcs7-data", "notSignedData"), ("certificate", "unrecognizedInput"),
            ("smime-message", "contentNotReceipt"),
            ("content-detached", "contentMissing"),
            ("no-bundle-id", "missingAttribute"), ("ios6-no-signature", "missingKey"),
            ("ios6-unknown-version", "malformedSignature"),
        ])
    func notAReceipt(name: String, code: String) async throws {
        let folder = try Folder.withRoot()
        let outcome = try await folder.inspect(name)
        #expect(outcome.status == 3)
        #expect(outcome.output.hasPrefix("Not a receipt (\(code)"), "\(outcome.output)")
        let json = try await folder.inspect(name, "--json")
        #expect(json.status == 3)
        #expect(try json.object()["verdict"] as? String == "notAReceipt")
        if !code.isEmpty { #expect(try json.object()["code"] as? String == code) }
    }

    @Test("Attributes are shown even where the whole is no receipt")
    func partlyReadable() async throws {
        let folder = try Folder.withRoot()
        let outcome = try await folder.inspect("no-bundle-id")
        #expect(outcome.output.contains("(the contents cannot be read as a receipt)"))
        #expect(outcome.output.contains("  3    application_version "))
    }

    @Test(
        "Other documents than receipts are inspected as their own kind",
        arguments: [("jws", "Not genuine (certificateCount): "), ("json", "Not signed: ")])
    func otherDocuments(name: String, beginning: String) async throws {
        let folder = try Folder.withRoot()
        let outcome = try await folder.inspect(name)
        #expect(outcome.status == 1)
        #expect(outcome.output.hasPrefix(beginning))
    }

    @Test("Standard input, raw and base64, gives the same as the file")
    func standardInput() async throws {
        let folder = try Folder.withRoot()
        let file = try await folder.inspect("production-sha256")
        let forged = try Forged.named("production-sha256")
        for bytes in [forged.bytes, try #require(forged.container)] {
            let outcome = try await Command.run(
                "inspect", "-", "--trust-root", folder.file("root.der"), input: bytes)
            #expect(outcome.status == 0)
            #expect(outcome.output == file.output)
        }
        let empty = try await Command.run("inspect", "-")
        #expect(empty.status == 3)
        #expect(empty.output.hasPrefix("Not a receipt (empty)"))
    }

    @Test("An input that cannot be read: 2, and its name")
    func unreadable() async throws {
        let folder = try Folder.withRoot()
        for (name, message) in [
            ("nothing.b64", "Cannot read nothing.b64: No such file or directory."),
            (".", "Cannot read .: Is a directory."),
        ] {
            let outcome = try await Command.run("inspect", name, in: folder)
            #expect(outcome.status == 2)
            #expect(outcome.output.isEmpty)
            #expect(outcome.error == "Error: \(message)\n")
        }
        let directory = try await Command.shell("\"$COMMAND\" inspect - <.", in: folder)
        #expect(directory.status == 2)
        #expect(directory.error.contains("Cannot read standard input: Is a directory."))
    }

    @Test("An endless input ends with an error, not with the memory")
    func endless() async throws {
        let outcome = try await Command.run("inspect", "/dev/zero")
        #expect(outcome.status == 2)
        #expect(outcome.error.contains("Cannot read /dev/zero: it has more than"))
    }

    @Test("Apple's roots alone are trusted by default")
    func defaultTrust() async throws {
        let folder = try Folder()
        let file = try folder.write("receipt", Forged.named("production-sha256").bytes)
        let outcome = try await Command.run("inspect", file)
        #expect(outcome.status == 1)
        #expect(outcome.output.hasPrefix("Not genuine (untrustedRoot)"))
    }
}
