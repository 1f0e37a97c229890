import Dispatch
import Foundation

/// Reloads a server's configuration when the process gets a signal.
public struct ReloadSignal {
    private let source: any DispatchSourceSignal

    /// From now on, the signal reloads the configuration instead of ending the process. If the new configuration cannot
    /// be read, the failure is counted and logged, and the old one stays in use.
    ///
    /// - Parameters:
    ///   - number: the signal, usually SIGHUP.
    ///   - server: the server to reload.
    ///   - sources: the sources to read again.
    public init(_ number: Int32, server: VerifyReceiptServer, sources: ConfigurationSources) {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: DispatchQueue(label: "reload"))
        source.setEventHandler {
            let new: VerifyReceiptServerConfiguration
            do {
                new = try sources.load()
            } catch {
                return server.noteFailedReload(error)
            }
            // `reload` logs a failure.
            _ = try? server.reload(new)
        }
        source.resume()
        self.source = source
    }

    /// Stops reloading; the signal is ignored from now on.
    public func cancel() { source.cancel() }
}
