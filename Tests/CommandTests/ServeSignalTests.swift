import Testing

/// Signals to `serve`.
@Suite struct ServeSignalTests {
    /// By default SIGHUP ends a process. The configuration is a pipe, so that the command is known to be reading it.
    @Test func theReloadSignalBeforeTheServerIsUpEndsNothing() async throws {
        let folder = try Folder()
        let outcome = try await Command.shell(
            """
            mkfifo serve.yaml || exit 90
            "$COMMAND" serve --config serve.yaml 2>log &
            server=$!
            exec 3>serve.yaml
            kill -HUP $server
            printf 'listen: {port: 0}\\nadmin: {enabled: false}\\nstore: {url: none}\\n' >&3
            exec 3>&-
            tries=0
            until grep -q listening log; do
                tries=$((tries + 1))
                [ $tries -lt 300 ] || break
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
