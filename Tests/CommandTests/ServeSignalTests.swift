import Testing

/// `serve` as a process: what it refuses at start, and signals.
@Suite struct ServeSignalTests {
    @Test func aStoreThatCannotBeOpenedNamesItsKey() async throws {
        let outcome = try await Command.run(
            "serve", "--port", "0", "--set", "admin.enabled=false", "--store", "sqlite:/nonexistent/x.sqlite")
        #expect(outcome.status == 2)
        #expect(outcome.error.contains("store.url: the store cannot be opened: "), "\(outcome.error)")
    }

    /// It starts all the same, since the database may come later.
    @Test func anUnreachableDatabaseIsReportedAtStart() async throws {
        let folder = try Folder()
        let outcome = try await Command.shell(
            """
            : >log
            "$COMMAND" serve --port 0 --set admin.enabled=false --store postgres://user:hidden@127.0.0.1:1/db 2>log &
            server=$!
            tries=0
            until grep -q 'cannot be used yet' log && grep -q listening log; do
                tries=$((tries + 1))
                [ $tries -lt 1200 ] || break
                sleep 0.1
            done
            kill -TERM $server
            wait $server
            """, in: folder)
        let log = try folder.text("log")
        #expect(outcome.status == 0, "\(log) \(outcome.error)")
        #expect(log.contains("listening"))
        #expect(log.contains("the store cannot be used yet: requests that need it get status 21005 until it can"))
        #expect(log.contains("127.0.0.1:1"))
        #expect(!log.contains("hidden"))
    }

    /// By default SIGHUP ends a process. The configuration is a pipe, so that the command is known to be reading it.
    @Test func theReloadSignalBeforeTheServerIsUpEndsNothing() async throws {
        let folder = try Folder()
        let outcome = try await Command.shell(
            """
            mkfifo serve.yaml || exit 90
            : >log
            "$COMMAND" serve --config serve.yaml 2>log &
            server=$!
            exec 3>serve.yaml
            kill -HUP $server
            printf 'listen: {port: 0}\\nadmin: {enabled: false}\\nstore: {url: none}\\n' >&3
            exec 3>&-
            tries=0
            until grep -q listening log; do
                tries=$((tries + 1))
                [ $tries -lt 1200 ] || break
                sleep 0.1
            done
            kill -TERM $server
            wait $server
            """, in: folder)
        let log = try folder.text("log")
        #expect(outcome.status == 0, "\(log) \(outcome.error)")
        #expect(log.contains("listening"))
    }
}
