"""Names of columns in the exports of shops: what each of them holds."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

TITLE, DESCRIPTION, BRAND, CATEGORY, ID = FIELDS = ("title", "description", "brand", "category", "id")
"""The fields that `batag start` looks for."""
PRICE, LINK, IMAGE, NUMBER, SKU, DATE, STATUS, KEYWORDS, SELLER, ATTRIBUTE, LANGUAGE = OTHERS = (
    *("price", "link", "image", "number", "sku", "date", "status", "keywords", "seller", "attribute", "language"),
)
"""What else a column may hold; nothing of it is tagged."""
_NAMES = {
    TITLE: """
        title name product_name product_title item_name item_title goods_name post_title productname producttitle product
        name_zh name_en title_zh title_en 商品名稱 商品名 品名 產品名稱 产品名称 商品名称 商品標題 商品标题 標題 标题 名稱
        名称 中文品名 商品中文名稱 產品名 产品名 品項名稱 商品名(中文) タイトル 商品タイトル 品目名 製品名 アイテム名 名前
    """,
    DESCRIPTION: """
        description body body_html long_description product_description item_description short_description post_content
        content details detail summary features text 商品描述 商品說明 商品说明 商品介紹 商品介绍 描述 說明 说明 產品描述
        产品描述 產品說明 詳細說明 商品特色 商品內容 商品内容 內容 内容 詳情 详情 簡介 简介 商品簡介 商品説明 商品説明文
        説明 説明文 詳細 商品詳細 商品紹介 PC用商品説明文 スマートフォン用商品説明文 PC用販売説明文 キャッチコピー
    """,
    BRAND: """
        brand brands brand_name vendor manufacturer maker product_brand item_brand make publisher label 品牌 廠牌 厂牌
        品牌名稱 品牌名称 商品品牌 製造商 制造商 廠商 厂商 品牌商 牌子 ブランド ブランド名 メーカー メーカー名 製造元
        製造者 発売元
    """,
    CATEGORY: """
        category categories product_type type product_category category_name category_path google_product_category
        item_category department collection collections custom_product_type standard_product_type 分類 分类 類別 类别
        商品分類 商品分类 商品類別 產品分類 产品分类 品類 品类 類目 类目 館別 分類名稱 主分類 次分類 商品類型 カテゴリ
        カテゴリー 商品カテゴリ 商品カテゴリー ジャンル 分類名 商品ジャンル ジャンルID名 表示先カテゴリ
    """,
    ID: """
        id product_id item_id productid handle goods_id post_id 商品編號 商品编号 商品id 產品編號 产品编号 編號 编号
        商品代碼 商品代号 商品序號 商品番号 商品管理番号 商品管理番号(商品url) 商品コード 管理番号 item_number
    """,
    PRICE: """
        price regular_price sale_price special_price cost msrp compare_at_price variant_price list_price unit_price 售價
        售价 價格 价格 價錢 原價 原价 定價 定价 建議售價 特價 特价 優惠價 成本 市價 会員価格 價 価格 販売価格 通常価格
        表示価格 単価 税込価格 税抜価格
    """,
    LINK: """
        url link product_url permalink 網址 网址 連結 链接 商品網址 商品連結 商品url リンク
    """,
    IMAGE: """
        image images image_src image_url image_link picture photo thumbnail base_image small_image variant_image gallery
        圖片 图片 商品圖片 主圖 主图 圖片網址 圖檔 画像 商品画像 商品画像url 画像url メイン画像
    """,
    NUMBER: """
        stock quantity qty inventory weight variant_grams variant_inventory_qty length width height position rating 庫存
        库存 數量 数量 重量 庫存數量 在庫 在庫数 排序
    """,
    SKU: """
        sku variant_sku barcode variant_barcode ean upc gtin jan mpn isbn asin model model_number part_number 貨號 货号
        料號 條碼 条码 國際條碼 型號 型号 商品型號 規格編號 jancode janコード 型番 品番 sku管理番号 システム連携用sku番号
        品番コード
    """,
    DATE: """
        date created created_at updated updated_at published_at date_created available_date 日期 上架時間 上架日期 建立時間
        更新時間 下架時間 登録日 更新日 販売期間
    """,
    STATUS: """
        status published visibility in_stock option1_name option1_value option2_name option2_value option3_name
        option3_value variant_taxable variant_requires_shipping gift_card tax_status tax_class product_websites
        product_online attribute_set_code 狀態 状态 上架 是否上架 上架狀態 公開 倉庫指定 状態
    """,
    KEYWORDS: """
        tags tag keywords meta_keywords meta_title seo_title meta_description seo_description 關鍵字 关键字 關鍵詞 标签
        標籤 搜尋關鍵字 seo標題 seo描述 キーワード 検索キーワード タグ
    """,
    SELLER: """
        seller shop shop_name store store_name supplier merchant 賣家 卖家 店家 店名 店铺 商店 供應商 供应商 店舗 店舗名
        出品者
    """,
    ATTRIBUTE: """
        color colour size material 顏色 颜色 尺寸 規格 规格 材質 材质 成分 產地 产地 容量 カラー 色 サイズ 素材 原産国
        country_of_origin spec specs specification attributes
    """,
    LANGUAGE: """
        language lang locale 語言 语言 言語
    """,
}
EXPORTS: Mapping[str, Mapping[str, str]] = {
    "Shopify": {
        "Handle": ID,
        "Title": TITLE,
        "Body (HTML)": DESCRIPTION,
        "Vendor": BRAND,
        "Type": CATEGORY,
        "Tags": KEYWORDS,
        "Variant SKU": SKU,
        "Product Category": ATTRIBUTE,
    },
    "WooCommerce": {
        "ID": ID,
        "Name": TITLE,
        "Description": DESCRIPTION,
        "Brands": BRAND,
        "Categories": CATEGORY,
        "Short description": ATTRIBUTE,
        "Type": STATUS,
        "Published": STATUS,
        "SKU": SKU,
        "Tags": KEYWORDS,
    },
    "Magento": {
        "sku": ID,
        "name": TITLE,
        "description": DESCRIPTION,
        "manufacturer": BRAND,
        "categories": CATEGORY,
        "attribute_set_code": STATUS,
        "product_type": STATUS,
        "short_description": ATTRIBUTE,
        "url_key": LINK,
    },
    "SHOPLINE": {
        "商品 ID": ID,
        "商品名稱": TITLE,
        "商品描述": DESCRIPTION,
        "品牌": BRAND,
        "分類": CATEGORY,
        "商品貨號": SKU,
        "商品摘要": ATTRIBUTE,
    },
    "91APP": {
        "商品頁編號": ID,
        "商品名稱": TITLE,
        "商品特色": DESCRIPTION,
        "品牌": BRAND,
        "商店類別": CATEGORY,
        "商品選項": STATUS,
    },
    "Rakuten": {
        "商品管理番号（商品URL）": ID,
        "商品名": TITLE,
        "PC用商品説明文": DESCRIPTION,
        "ブランド名": BRAND,
        "表示先カテゴリ": CATEGORY,
        "ジャンルID": NUMBER,
        "キャッチコピー": ATTRIBUTE,
        "商品番号": SKU,
    },
}
"""The exports that are known as they are: their columns and what those hold."""
_SIGNS = {
    "Shopify": ("Handle", "Title", "Body (HTML)", "Vendor"),
    "WooCommerce": ("ID", "Type", "SKU", "Name", "Published"),
    "Magento": ("sku", "attribute_set_code", "product_type", "name"),
    "SHOPLINE": ("商品 ID", "商品名稱"),
    "91APP": ("商品頁編號", "商品名稱"),
    "Rakuten": ("商品管理番号（商品URL）", "商品名"),
}
"""The columns by which each is told."""
GROUPS = {"Shopify": "Handle", "WooCommerce": "Parent"}
"""The column that variants of one product share; rows without a title are variants of the product above."""
_BESIDE = re.compile(r"[\s_\-:：/.*＊#]+")
_NOTE = re.compile(r"[(（\[【][^)）\]】]*[)）\]】]\s*$")


def plain(name: str) -> str:
    """A name of a column without case, width, spaces and signs."""
    return _BESIDE.sub("", unicodedata.normalize("NFKC", name).strip().lower())


_PLAIN = {
    field: {form: place for place, form in enumerate(dict.fromkeys(map(plain, names.split())))}
    for field, names in _NAMES.items()
}


def field_of_name(name: str) -> tuple[str, int] | None:
    """What a column of this name holds, and its place among the names for that (a lower one is likelier); None if unknown."""
    for form in dict.fromkeys((plain(name), plain(_NOTE.sub("", name)))):
        for field, names in _PLAIN.items():
            if form in names:
                return field, names[form]
    return None


def export_of(names: Iterable[str]) -> str | None:
    """The kind of export that a table with these columns is, or None."""
    there = {_same(name) for name in names}
    return next((kind for kind, signs in _SIGNS.items() if all(_same(sign) in there for sign in signs)), None)


def fields_of_export(kind: str, names: Iterable[str]) -> dict[str, str]:
    """What the columns of a known export hold, by the names in the file."""
    known = {_same(column): field for column, field in EXPORTS[kind].items()}
    return {name: known[_same(name)] for name in names if _same(name) in known}


def _same(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().casefold()
