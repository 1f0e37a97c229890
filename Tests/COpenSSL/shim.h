/* What Swift needs from OpenSSL 3 to verify CMS messages and certificates. The functions below stand for macros that Swift
   does not import: the typed stacks, and flags composed of other flags. */
#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/cms.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

static inline int COpenSSL_X509_count(const STACK_OF(X509) *stack) { return stack == NULL ? 0 : sk_X509_num(stack); }

static inline X509 *COpenSSL_X509_at(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }

/* Frees the stack and drops one reference to each of its certificates. */
static inline void COpenSSL_X509_stack_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

static inline STACK_OF(X509) *COpenSSL_X509_stack_new(void) { return sk_X509_new_null(); }

/* The stack does not take a reference: the certificate must outlive it, or be owned by it. */
static inline int COpenSSL_X509_stack_push(STACK_OF(X509) *stack, X509 *certificate) {
    return sk_X509_push(stack, certificate);
}

/* Frees the stack alone, not its certificates. */
static inline void COpenSSL_X509_stack_free_borrowed(STACK_OF(X509) *stack) { sk_X509_free(stack); }

static inline int COpenSSL_signer_count(const STACK_OF(CMS_SignerInfo) *stack) {
    return stack == NULL ? 0 : sk_CMS_SignerInfo_num(stack);
}

static inline CMS_SignerInfo *COpenSSL_signer_at(const STACK_OF(CMS_SignerInfo) *stack, int index) {
    return sk_CMS_SignerInfo_value(stack, index);
}

/* The bytes a memory BIO holds; they belong to the BIO. */
static inline long COpenSSL_BIO_bytes(BIO *bio, const char **bytes) { return BIO_get_mem_data(bio, (char **)bytes); }

/* One line, UTF-8 kept as it is. */
static inline unsigned long COpenSSL_name_flags(void) { return XN_FLAG_ONELINE & ~ASN1_STRFLGS_ESC_MSB; }

/* The digest algorithm and the signature algorithm a SignerInfo names. */
static inline const ASN1_OBJECT *COpenSSL_signer_digest_algorithm(CMS_SignerInfo *signer) {
    X509_ALGOR *digest = NULL;
    const ASN1_OBJECT *object = NULL;
    CMS_SignerInfo_get0_algs(signer, NULL, NULL, &digest, NULL);
    if (digest != NULL) X509_ALGOR_get0(&object, NULL, NULL, digest);
    return object;
}

static inline const ASN1_OBJECT *COpenSSL_signer_signature_algorithm(CMS_SignerInfo *signer) {
    X509_ALGOR *signature = NULL;
    const ASN1_OBJECT *object = NULL;
    CMS_SignerInfo_get0_algs(signer, NULL, NULL, NULL, &signature);
    if (signature != NULL) X509_ALGOR_get0(&object, NULL, NULL, signature);
    return object;
}

#endif
