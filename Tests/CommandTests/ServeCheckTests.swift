import Testing

/// `serve --check`: what it says before anything is served.
@Suite struct ServeCheckTests {
    @Test func eachOpenDefaultIsOneWarningLine() async throws {
        let folder = try Folder()
        let outcome = try await Command.run("serve", "--check", in: folder)
        #expect(outcome.status == 0)
        #expect(outcome.output == "The configuration is valid: 0 apps.\n")
        #expect(
            outcome.error == """
                Warning: no shared secret is configured: any password is accepted
                Warning: no apps are configured: receipts of every app are answered, and kept in the store

                """)
    }

    @Test func connectTriesTheStoreAndMakesNone() async throws {
        let folder = try Folder()
        let works = try await Command.run("serve", "--check", "--connect", "--store", "sqlite:s.sqlite", in: folder)
        #expect(works.status == 0, "\(works.output) \(works.error)")
        #expect(works.output.contains("ok      store sqlite:s.sqlite (no file yet)\n"))
        let fails = try await Command.run(
            "serve", "--check", "--connect", "--store", "sqlite:missing/s.sqlite", in: folder)
        #expect(fails.status == 1)
        #expect(fails.output.contains("FAILED  store sqlite:missing/s.sqlite (no file yet): "), "\(fails.output)")
        let broken = try folder.write("broken.sqlite", Array("this is no database, and long enough to be read".utf8))
        let corrupt = try await Command.run(
            "serve", "--check", "--connect", "--store", "sqlite:\(broken)", in: folder)
        #expect(corrupt.status == 1)
        #expect(corrupt.output.contains("FAILED  store sqlite:\(broken): "), "\(corrupt.output)")
    }

    @Test func connectNeedsCheck() async throws {
        let outcome = try await Command.run("serve", "--connect")
        #expect(outcome.status == 2)
        #expect(outcome.error.contains("--connect needs --check"))
    }
}
