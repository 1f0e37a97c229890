import Dispatch
import Foundation

/// Reloads a server's configuration when the process gets a signal.
public struct ReloadSignal {
    private let source: any DispatchSourceSignal

    /// From now on the signal reloads the configuration instead of ending the process. A configuration that cannot be
    /// read is counted and logged, and the old one stays.
    ///
    /// - Parameters:
    ///   - number: SIGHUP by custom.
    ///   - server: what takes the new configuration over.
    ///   - sources: what is read again.
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
            // A failure is logged where it happens.
            _ = try? server.reload(new)
        }
        source.resume()
        self.source = source
    }

    /// Ends the reloading; the signal is ignored from now on.
    public func cancel() { source.cancel() }
}
