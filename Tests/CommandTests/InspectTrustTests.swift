import Foundation
import ReceiptForge
import Testing

@Suite("inspect: trust and device", .timeLimit(.minutes(10)))
struct InspectTrustTests {
    @Test("--trust-root takes DER and PEM, and every certificate of a PEM file")
    func trustRoot() async throws {
        let folder = try Folder.withRoot()
        let file = try folder.write("receipt", Forged.named("production-sha256").bytes)
        let root = Forged.pem(try TestCertificateAuthority.rootDER)
        let other = Forged.pem(try TestCertificateAuthority.xcodeDER)
        try folder.write("root.pem", root)
        try folder.write("bundle.pem", Array("Some words before.\n".utf8) + other + root)
        try folder.write("crlf.pem", Array(String(decoding: root, as: UTF8.self).replacing("\n", with: "\r\n").utf8))
        for name in ["root.der", "root.pem", "bundle.pem", "crlf.pem"] {
            let outcome = try await Command.run("inspect", file, "--trust-root", folder.file(name))
            #expect(outcome.status == 0, "\(name)")
        }
        try folder.write("other.pem", other)
        let outcome = try await Command.run("inspect", file, "--trust-root", folder.file("other.pem"))
        #expect(outcome.status == 1)
    }

    @Test(
        "A file to trust that is no certificate, or not there, is an error that names it",
        arguments: [
            "--trust-root", "--intermediate",
        ])
    func badCertificates(option: String) async throws {
        let folder = try Folder.withRoot()
        try folder.write("receipt", Forged.named("production-sha256").bytes)
        try folder.write("text.pem", Array("no certificate".utf8))
        let pem = Forged.pem(try TestCertificateAuthority.rootDER)
        try folder.write("cut.pem", Array(pem.prefix(300)) + Array("\n-----END CERTIFICATE-----\n".utf8))
        try folder.write("none", [])
        for command in [["inspect", "receipt"], ["migrate", "receipt", "--output", "out"]] {
            for name in ["text.pem", "cut.pem", "none"] {
                let outcome = try await Command.run(command + ["--trust-root", "root.der", option, name], in: folder)
                #expect(outcome.status == 2)
                #expect(
                    outcome.error == "Error: Cannot use \(name): it is not an X.509 certificate in DER or PEM.\n")
            }
            let missing = try await Command.run(command + [option, "missing.pem"], in: folder)
            #expect(missing.status == 2)
            #expect(missing.error == "Error: Cannot read missing.pem: No such file or directory.\n")
        }
        #expect(folder.names("out").isEmpty)
    }

    @Test("A transaction receipt needs its intermediate: without 1, with --intermediate in DER or PEM 0")
    func intermediate() async throws {
        let folder = try Folder.withRoot()
        let intermediate = try TestCertificateAuthority.iTunesStoreIntermediateDER
        try folder.write("tunes.der", intermediate)
        try folder.write("tunes.pem", Forged.pem(intermediate))
        let without = try await folder.inspect("ios6-v2-production")
        #expect(without.status == 1)
        #expect(without.output.hasPrefix("Not genuine (untrustedLeaf)"))
        for name in ["tunes.der", "tunes.pem"] {
            let outcome = try await folder.inspect("ios6-v2-production", "--intermediate", folder.file(name))
            #expect(outcome.status == 0, "\(outcome.output)")
            #expect(outcome.output.contains("\nTransaction receipt, signed part\n  "))
            #expect(outcome.output.contains("  Counts as Production.\n"))
            #expect(outcome.output.contains("  Signature version 2\n"))
            #expect(outcome.output.contains("  passed   environment\n"))
        }
    }

    @Test(
        "A transaction receipt's unsigned environment that contradicts its transaction id is reported, and counts as sandbox"
    )
    func environmentContradiction() async throws {
        let folder = try Folder.withRoot()
        try folder.write("tunes.der", TestCertificateAuthority.iTunesStoreIntermediateDER)
        for name in ["ios6-sandbox-says-production", "ios6-production-says-sandbox"] {
            let outcome = try await folder.inspect(name, "--intermediate", folder.file("tunes.der"))
            #expect(outcome.status == 0)
            let lines = outcome.output.split(separator: "\n").map(String.init)
            #expect(lines.count > 1 && lines[1].hasPrefix("  But: The unsigned environment contradicts"))
            #expect(lines.contains("  Counts as Sandbox."))
            #expect(lines.contains { $0.hasPrefix("  FAILED   environment ") })
            let json = try await folder.inspect(name, "--json", "--intermediate", folder.file("tunes.der")).object()
            #expect(json["environmentContradiction"] as? Bool == true)
            #expect(json["environment"] as? String == "Sandbox")
            let checks = try #require(json["checks"] as? [[String: Any]])
            let check = try #require(checks.first { $0["check"] as? String == "environment" })
            #expect(check["code"] as? String == "environmentContradiction")
        }
    }

    @Test("Receipts of Xcode are refused with a reason, and accepted with --accept-xcode only")
    func xcode() async throws {
        let folder = try Folder.withRoot()
        let refused = try await folder.inspect("xcode")
        #expect(refused.status == 1)
        #expect(refused.output.contains("Xcode's StoreKit testing"))
        let accepted = try await folder.inspect("xcode", "--accept-xcode")
        #expect(accepted.status == 0, "\(accepted.output)")
        #expect(accepted.output.hasPrefix("Genuine: signed by Xcode, which you chose to accept"))
        let borrowed = try await folder.inspect("xcode-with-borrowed-chain", "--accept-xcode")
        #expect(borrowed.status == 1)
    }

    @Test("--device: the right one 0, another 1, in any spelling of a MAC address or UUID")
    func device() async throws {
        let folder = try Folder.withRoot()
        for spelling in ["02:00:5e:10:20:30", "02-00-5E-10-20-30", "02005e102030"] {
            let outcome = try await folder.inspect("mac", "--device", spelling)
            #expect(outcome.status == 0)
            #expect(outcome.output.contains("  passed   device\n") || outcome.output.hasSuffix("  passed   device\n"))
        }
        for other in ["02:00:5e:10:20:31", "68753A44-4D6F-1226-9C60-0050E4C00067"] {
            let outcome = try await folder.inspect("mac", "--device", other)
            #expect(outcome.status == 1)
            #expect(outcome.output.hasPrefix("Not genuine (deviceMismatch): The receipt belongs to another device"))
            #expect(outcome.output.contains("  FAILED   device "))
            #expect(outcome.output.contains("  passed   signature\n"))
        }
    }

    @Test("--device never succeeds where there is no device hash to compare with")
    func deviceOfTransactionReceipt() async throws {
        let folder = try Folder.withRoot()
        try folder.write("tunes.der", TestCertificateAuthority.iTunesStoreIntermediateDER)
        let outcome = try await folder.inspect(
            "ios6-v2-production", "--intermediate", folder.file("tunes.der"), "--device", "02:00:5e:10:20:30")
        #expect(outcome.status == 2)
        #expect(outcome.error == "Error: --device cannot be checked: a transaction receipt has no device hash.\n")
    }

    @Test("No control character of a receipt reaches the terminal, as text or JSON")
    func hostileReceipts() async throws {
        let folder = try Folder.withRoot()
        let hostile = "a\u{1B}[2J\u{7}\u{7F}\u{9B}31m\u{202E}\u{2028}b\r\nc\u{E0001}"
        let created = ForgedInstant(2024, 3, 15, 10, 20, 30)
        let app = ForgedAppReceipt.production(bundleId: "com.\(hostile)", created: created).with {
            $0.applicationVersion = hostile
            $0.purchases = [ForgedPurchase(.consumable, product: hostile, id: hostile, at: created)]
        }
        try folder.write("app", app.signedData(.g5).encoded())
        let bought = ForgedInstant(2013, 9, 24, 22, 10, 4)
        let transaction = ForgedTransactionReceipt.production(product: hostile, pod: "35", serial: "000053", at: bought)
            .with { $0.environment = hostile }
        try folder.write("transaction", ForgedTransactionSignature.version2(at: bought).signed(transaction))
        let keys = "{\"purchase-info\" = \"e30=\"; \"\u{1B}]0;x\u{7}\" = \"\u{9B}1m\"; \"signature\" = \"\u{1B}\";}"
        try folder.write("keys", Array(keys.utf8))
        for name in ["app", "transaction", "keys"] {
            for options in [[], ["--json"]] {
                let outcome = try await Command.run(["inspect", name] + options, in: folder)
                #expect(outcome.status == 1 || outcome.status == 3)
                let scalars = (outcome.output + outcome.error).unicodeScalars.filter {
                    $0 != "\n"
                        && [.control, .format, .lineSeparator, .paragraphSeparator].contains(
                            $0.properties.generalCategory)
                }
                #expect(scalars.isEmpty, "\(name) \(options) \(scalars.map { $0.value })")
                if !options.isEmpty { _ = try outcome.object() }
            }
        }
        let json = try await Command.run("inspect", "app", "--json", in: folder).object()
        let attributes = try #require(json["attributes"] as? [[String: Any]])
        // Escaping changes how it is written, not what it says.
        #expect(attributes.contains { $0["value"] as? String == hostile })
    }
}
