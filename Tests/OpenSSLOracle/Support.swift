import COpenSSL

/// Empties this thread's OpenSSL error queue into one line: OpenSSL's reasons with their details, oldest first.
func takeErrors() -> String {
    var sentences: [String] = []
    var details: UnsafePointer<CChar>?
    var flags: CInt = 0
    while true {
        let code = ERR_get_error_all(nil, nil, nil, &details, &flags)
        if code == 0 { break }
        var sentence = ERR_reason_error_string(code).map { String(cString: $0) } ?? "OpenSSL error \(code)"
        if flags & ERR_TXT_STRING != 0, let details, details.pointee != 0 {
            sentence += " (" + String(cString: details) + ")"
        }
        sentences.append(sentence)
    }
    return sentences.isEmpty ? "OpenSSL gave no reason" : sentences.joined(separator: "; ")
}

/// Calls `body` with a decoded ContentInfo, which is freed afterwards, and the count of bytes d2i left unread.
/// Returns nil when OpenSSL cannot decode the bytes.
func withMessage<Result>(_ bytes: [UInt8], _ body: (_ message: OpaquePointer, _ trailing: Int) -> Result) -> Result? {
    bytes.withUnsafeBufferPointer { buffer in
        guard let start = buffer.baseAddress, let length = CLong(exactly: buffer.count) else { return nil }
        var cursor: UnsafePointer<UInt8>? = start
        guard let message = d2i_CMS_ContentInfo(nil, &cursor, length) else { return nil }
        defer { CMS_ContentInfo_free(message) }
        return body(message, buffer.count - (cursor.map { $0 - start } ?? 0))
    }
}

/// Calls `body` with a decoded certificate, which is freed afterwards. Returns nil unless the bytes are one
/// certificate and nothing more.
func withCertificate<Result>(_ bytes: [UInt8], _ body: (_ certificate: OpaquePointer) -> Result) -> Result? {
    bytes.withUnsafeBufferPointer { buffer in
        guard let start = buffer.baseAddress, let length = CLong(exactly: buffer.count) else { return nil }
        var cursor: UnsafePointer<UInt8>? = start
        guard let certificate = d2i_X509(nil, &cursor, length) else { return nil }
        defer { X509_free(certificate) }
        guard let cursor, cursor - start == buffer.count else { return nil }
        return body(certificate)
    }
}

/// Calls `body` with each certificate embedded in the message.
func forEachCertificate(in message: OpaquePointer, _ body: (OpaquePointer) -> Void) {
    // CMS_get1_certs takes a reference per certificate: the stack is ours to free, deeply.
    guard let certificates = CMS_get1_certs(message) else { return }
    defer { COpenSSL_X509_stack_free(certificates) }
    for index in 0..<COpenSSL_X509_count(certificates) {
        if let certificate = COpenSSL_X509_at(certificates, index) { body(certificate) }
    }
}

/// The certificate's DER as OpenSSL encodes it.
func encoding(of certificate: OpaquePointer) -> [UInt8] {
    var buffer: UnsafeMutablePointer<UInt8>?
    let length = Int(i2d_X509(certificate, &buffer))
    guard length > 0, let buffer else { return [] }
    defer { CRYPTO_free(buffer, nil, 0) }
    return Array(UnsafeBufferPointer(start: buffer, count: length))
}

func sha256(of certificate: OpaquePointer) -> [UInt8] {
    var length: UInt32 = 0
    let digest = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
        count = X509_digest(certificate, EVP_sha256(), buffer.baseAddress, &length) == 1 ? Int(length) : 0
    }
    return digest
}

/// Everything a memory BIO holds.
func bytes(in bio: OpaquePointer) -> [UInt8] {
    var start: UnsafePointer<CChar>?
    let count = COpenSSL_BIO_bytes(bio, &start)
    guard count > 0, let start else { return [] }
    return Array(UnsafeRawBufferPointer(start: start, count: count))
}

/// The dotted form of an object identifier.
func dotted(_ object: OpaquePointer?) -> String {
    guard let object else { return "" }
    let needed = Int(OBJ_obj2txt(nil, 0, object, 1))
    guard needed > 0 else { return "" }
    return String(unsafeUninitializedCapacity: needed + 1) { buffer in
        buffer.withMemoryRebound(to: CChar.self) { characters in
            max(0, Int(OBJ_obj2txt(characters.baseAddress, CInt(characters.count), object, 1)))
        }
    }
}
