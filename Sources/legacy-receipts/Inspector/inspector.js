const field = document.getElementById("document"), file = document.getElementById("file");
const text = (bytes) => {
  try {
    const decoded = new TextDecoder("utf-8", {fatal: true}).decode(bytes);
    if (!decoded.includes("\0")) return decoded;
  } catch {}
  return btoa(bytes.reduce((binary, byte) => binary + String.fromCharCode(byte), ""));
};
const read = (chosen) => {
  if (!chosen) return;
  const reader = new FileReader();
  reader.onload = () => { field.value = text(new Uint8Array(reader.result)); field.focus(); };
  reader.readAsArrayBuffer(chosen);
};
document.getElementById("files").hidden = false;
file.addEventListener("change", () => read(file.files[0]));
field.addEventListener("dragover", (event) => event.preventDefault());
field.addEventListener("drop", (event) => {
  if (!event.dataTransfer.files.length) return;
  event.preventDefault();
  read(event.dataTransfer.files[0]);
});
